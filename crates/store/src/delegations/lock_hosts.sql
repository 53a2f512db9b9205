-- Locks the hosts of a subnet ($1 to $2) that an agent ($3) has, or that wait for one.
SELECT id FROM hosts
WHERE first = $1 AND last = $2
  AND (state = 'resolved' OR (state = 'delegated' AND agent = $3))
ORDER BY id FOR UPDATE
