-- The hosts of a subnet ($1, $2) move from now on. An agent too old for release orders ($3: the
-- first version that knows them) keeps its hosts.
UPDATE hosts h SET state = 'moving'
FROM agents a
WHERE h.first = $1 AND h.last = $2 AND h.state = 'delegated' AND a.id = h.agent
  AND a.protocol >= $3
RETURNING h.id
