-- Stores a heartbeat. 1: compares it with the last one ($7: the oldest heartbeat of a reachable
-- agent).
WITH before AS (
   SELECT id, coalesce(last_heartbeat_at < $7, true)
              OR asleep_until IS DISTINCT FROM $4 AS presence_changed
   FROM agents WHERE id = $1
), confirmed AS (
   -- 2: deletes the routes that the agent has stored.
   DELETE FROM routes WHERE agent = $1 AND seq <= $6 RETURNING seq
)
-- 3: replaces the presence and the status of the agent.
UPDATE agents a SET last_heartbeat_at = $2, protocol = $3, asleep_until = $4, status = $5
FROM before WHERE a.id = before.id
RETURNING a.state, a.next_route - 1, before.presence_changed, (SELECT count(*) FROM confirmed)
