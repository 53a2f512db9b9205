-- Ends the orders that a move replaces.
UPDATE handovers SET ended_at = $3, ending = 'replaced', confirmed_at = $3
WHERE host = ANY($1) AND ended_at IS NULL AND task <> 'release' AND $2::bigint[] IS NOT NULL
