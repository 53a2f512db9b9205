-- Subnets that hosts wait in and nobody crawls.
SELECT DISTINCT h.first, h.last FROM hosts h
WHERE h.state = 'resolved' AND h.first IS NOT NULL AND NOT EXISTS (
   SELECT FROM delegations d WHERE d.ended_at IS NULL AND d.first = h.first AND d.last = h.last)
