-- The hosts of a subnet ($1, $2) move from now on.
-- 1: locks them by rising number.
WITH locked AS MATERIALIZED (
    SELECT id FROM hosts WHERE first = $1 AND last = $2 AND state = 'delegated'
    ORDER BY id FOR UPDATE
)
-- 2: marks them, once all are locked.
UPDATE hosts SET state = 'moving' WHERE id = ANY(ARRAY(SELECT id FROM locked)) RETURNING id
