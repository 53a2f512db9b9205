-- Takes the next hosts from an agent ($1) that was revoked or leaves. They stay reserved until its
-- lease ends: the agent may not know yet that it was revoked, and a host has one agent.
-- 1: at most $3 hosts after those of the last step.
WITH next AS (
   SELECT h.id FROM agents a JOIN hosts h ON h.agent = a.id AND h.id > a.freed_to
   WHERE a.id = $1 ORDER BY h.id LIMIT $3
), reserved AS (
   -- 2: nothing more is routed to these hosts.
   UPDATE hosts SET state = 'moving'
   WHERE id IN (SELECT id FROM next) AND agent = $1 AND state = 'delegated' RETURNING id
), ordered AS (
   -- 3: orders their release, for no agent in particular; the end of the lease ends the order.
   INSERT INTO handovers (host, agent, task, asked_at)
   SELECT id, $1, 'release', $2 FROM reserved ORDER BY id
   ON CONFLICT (host) WHERE ended_at IS NULL DO NOTHING
)
-- 4: keeps how far this came, and returns the number of hosts.
UPDATE agents SET freed_to = CASE WHEN (SELECT count(*) FROM next) = $3
                                  THEN (SELECT max(id) FROM next) END
WHERE id = $1 RETURNING (SELECT count(*) FROM reserved)
