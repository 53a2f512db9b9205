-- Gives the hosts of subnets to agents ($1, $2, $3: the subnets and their agents), as part of the
-- transaction that delegates the subnets.
-- 1: hosts of another agent are moving from now on.
WITH taken AS (
   UPDATE hosts h SET state = 'moving'
   FROM unnest($1::inet[], $2::inet[], $3::bigint[]) AS g (first, last, agent)
   WHERE h.first = g.first AND h.last = g.last AND h.state = 'delegated' AND h.agent <> g.agent
   RETURNING h.id, g.agent
)
-- 2: names them with their next agents.
SELECT id, agent FROM taken
UNION
-- 3: names the hosts that were moving before, too: their next agent is another one now.
SELECT h.id, g.agent FROM hosts h
JOIN unnest($1::inet[], $2::inet[], $3::bigint[]) AS g (first, last, agent)
  ON h.first = g.first AND h.last = g.last
WHERE h.state = 'moving'
ORDER BY id
