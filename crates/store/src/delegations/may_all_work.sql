-- Locks the agents of decisions, as may_work does.
SELECT id FROM agents WHERE id = ANY($1) AND state IN ('approved', 'paused') AND leaving_at IS NULL
ORDER BY id FOR KEY SHARE
