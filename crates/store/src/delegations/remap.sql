-- Ends the delegations that move, and stores what happened to their ranges.
-- 1: locks them by rising number, as all transactions do.
WITH locked AS MATERIALIZED (
    SELECT id FROM delegations WHERE id = ANY($1) AND ended_at IS NULL ORDER BY id FOR UPDATE
)
-- 2: ends them, once all are locked.
UPDATE delegations d SET ended_at = $3, range_change = m.range_change
FROM unnest($1::bigint[], $2::text[]) AS m (id, range_change)
WHERE d.id = m.id AND d.id = ANY(ARRAY(SELECT id FROM locked))
