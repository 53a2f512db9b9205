-- Lock the agents of decisions.
SELECT id FROM agents WHERE id = ANY($1) AND state IN ('approved', 'paused') ORDER BY id FOR SHARE
