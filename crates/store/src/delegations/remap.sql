-- Ends the delegations that move, and stores what happened to their ranges.
UPDATE delegations d SET ended_at = $3, range_change = m.range_change
FROM unnest($1::bigint[], $2::text[]) AS m (id, range_change) WHERE d.id = m.id
    AND d.ended_at IS NULL
