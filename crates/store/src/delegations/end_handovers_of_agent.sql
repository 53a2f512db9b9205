-- Ends the orders about hosts that an agent has not confirmed, and sends those that ended before no
-- more. Releases that are under way stay open until the agent's lease ends.
UPDATE handovers SET ended_at = coalesce(ended_at, $2), ending = coalesce(ending, 'revoked'),
    confirmed_at = $2
WHERE agent = $1 AND confirmed_at IS NULL AND NOT (task = 'release' AND ended_at IS NULL)
