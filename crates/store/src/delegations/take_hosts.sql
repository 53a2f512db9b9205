-- The hosts of a subnet ($1, $2) move from now on.
UPDATE hosts SET state = 'moving'
WHERE first = $1 AND last = $2 AND state = 'delegated'
RETURNING id
