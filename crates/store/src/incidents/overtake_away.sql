-- A subnet that is away and slow at its new agent, too, has a new incident.
UPDATE incidents SET state = 'overtaken', ended_at = $4, changed_at = $4
WHERE first = $1 AND last = $2 AND next_agent = $3 AND state = 'away' AND ended_at IS NULL
