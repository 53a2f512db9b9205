-- Subnets with an open search and without an agent.
SELECT s.first, s.last FROM searches s WHERE s.state = 'open' AND
(SELECT d.id FROM delegations d WHERE d.first = s.first AND d.last = s.last
    AND d.ended_at IS NULL) IS NULL
