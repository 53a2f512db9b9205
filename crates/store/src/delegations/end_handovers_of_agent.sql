-- Ends the orders about hosts that an agent has not confirmed.
UPDATE handovers SET ended_at = coalesce(ended_at, $2), ending = coalesce(ending, 'revoked'),
    confirmed_at = $2
WHERE agent = $1 AND confirmed_at IS NULL
