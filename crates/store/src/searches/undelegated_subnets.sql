-- The subnets with an open search that nobody crawls yet.
SELECT s.first, s.last FROM searches s WHERE s.state = 'open' AND
(SELECT d.id FROM delegations d WHERE d.first = s.first AND d.last = s.last
    AND d.ended_at IS NULL) IS NULL
