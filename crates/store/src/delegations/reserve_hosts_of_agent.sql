-- Reserves the hosts of an agent until its lease ends: the agent may not know yet that it was
-- revoked, and a host has one agent.
-- 1: nothing more is routed to these hosts.
WITH reserved AS (
   UPDATE hosts SET state = 'moving' WHERE agent = $1 AND state = 'delegated' RETURNING id
)
-- 2: orders their release, for no agent in particular; the end of the lease ends the order.
INSERT INTO handovers (host, agent, task, asked_at)
SELECT id, $1, 'release', $2::timestamptz FROM reserved ORDER BY id
ON CONFLICT (host) WHERE ended_at IS NULL DO NOTHING
