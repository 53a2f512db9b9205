-- Gives the hosts of subnets to agents, as part of the transaction that delegates the subnets.
WITH taken AS (
   UPDATE hosts h SET state = 'moving'
   FROM unnest($1::inet[], $2::inet[], $3::bigint[]) AS g (first, last, agent), agents a
   WHERE h.first = g.first AND h.last = g.last AND h.state = 'delegated' AND h.agent <> g.agent
     AND a.id = h.agent AND a.protocol >= $4
   RETURNING h.id, g.agent
)
SELECT id, agent FROM taken
UNION
SELECT h.id, g.agent FROM hosts h
JOIN unnest($1::inet[], $2::inet[], $3::bigint[]) AS g (first, last, agent)
  ON h.first = g.first AND h.last = g.last
WHERE h.state = 'moving'
ORDER BY id
