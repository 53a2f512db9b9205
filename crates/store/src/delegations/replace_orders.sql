-- Ends the orders about hosts ($1) that a move replaces.
UPDATE handovers SET ended_at = $2, ending = 'replaced', confirmed_at = $2
WHERE host = ANY($1) AND ended_at IS NULL AND task <> 'release'
