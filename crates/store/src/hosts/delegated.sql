-- Hosts with an agent after $1, in order of their number.
SELECT id, first, last, address, scheme, authority FROM hosts
WHERE id > $1 AND state = 'delegated' AND first IS NOT NULL AND address IS NOT NULL
ORDER BY id LIMIT $2
