-- Closes the open searches that move, so that two may swap subnets.
UPDATE searches SET state = 'decided', decided_at = $2 WHERE id = ANY ($1)
    AND state = 'open' RETURNING id
