-- The subnet moved to another agent.
UPDATE incidents SET state = 'away', next_agent = $3, failback = $4, probe = NULL, changed_at = $5,
       moved_at = coalesce(moved_at, $5)
WHERE id = $1 AND state = $2
