-- Puts open searches, with the probes they made, on the subnets that their targets lie in now, all
-- in one transaction.
UPDATE searches SET state = 'decided', decided_at = $2 WHERE id = ANY ($1)
    AND state = 'open' RETURNING id
