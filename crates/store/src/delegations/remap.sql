-- Moves delegations to their places in a new generation, all in one transaction, and says how many
-- ended where they were.
UPDATE delegations d SET ended_at = $3, range_change = m.range_change
FROM unnest($1::bigint[], $2::text[]) AS m (id, range_change) WHERE d.id = m.id
    AND d.ended_at IS NULL
