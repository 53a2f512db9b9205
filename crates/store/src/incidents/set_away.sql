-- The subnet went to another agent; `failback` is what is known of the way back.
UPDATE incidents SET state = 'away', next_agent = $3, failback = $4, probe = NULL, changed_at = $5,
       moved_at = coalesce(moved_at, $5)
WHERE id = $1 AND state = $2
