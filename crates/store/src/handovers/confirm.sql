-- The agent did what these orders say, and shipped what it had.
UPDATE handovers SET confirmed_at = $3 WHERE agent = $1 AND id = ANY($2) AND confirmed_at IS NULL
