-- Subnets with waiting hosts and without an agent that begin in one of these ranges ($1 to $2).
SELECT DISTINCT w.first, w.last
FROM unnest($1::inet[], $2::inet[]) AS r (first, last)
-- The inner DISTINCT keeps the planner from reading all waiting hosts once for all ranges.
CROSS JOIN LATERAL (
   SELECT DISTINCT h.first, h.last FROM hosts h
   WHERE h.state = 'resolved' AND h.first BETWEEN r.first AND r.last
) AS w
WHERE NOT EXISTS (
   SELECT FROM delegations d WHERE d.ended_at IS NULL AND d.first = w.first AND d.last = w.last)
