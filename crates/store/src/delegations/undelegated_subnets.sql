-- Subnets with waiting hosts and without an agent.
SELECT DISTINCT h.first, h.last FROM hosts h
WHERE h.state = 'resolved' AND h.first IS NOT NULL AND NOT EXISTS (
   SELECT FROM delegations d WHERE d.ended_at IS NULL AND d.first = h.first AND d.last = h.last)
