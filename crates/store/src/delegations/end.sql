-- Ends delegations.
-- 1: locks them by rising number, as all transactions do.
WITH locked AS MATERIALIZED (
    SELECT o.id FROM delegations o
    JOIN unnest($1::inet[], $2::inet[], $3::bigint[]) AS d (first, last, fencing_number)
        USING (first, last, fencing_number)
    WHERE o.ended_at IS NULL ORDER BY o.id FOR UPDATE OF o
)
-- 2: ends them, once all are locked.
UPDATE delegations SET ended_at = $4 WHERE id = ANY(ARRAY(SELECT id FROM locked))
