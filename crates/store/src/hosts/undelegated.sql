-- One host each of subnets that nobody has and that no search is open for, though an agent has
-- hosts there: a new generation of the hierarchy cut them out of what it has.
SELECT DISTINCT ON (h.first, h.last) h.first, h.last, h.address, h.scheme, h.authority FROM hosts h
WHERE h.state = 'delegated' AND h.first IS NOT NULL AND h.address IS NOT NULL
  AND NOT EXISTS (SELECT FROM searches s WHERE s.state = 'open' AND s.first = h.first
      AND s.last = h.last)
  AND NOT EXISTS (
       SELECT FROM delegations d WHERE d.ended_at IS NULL AND d.first = h.first AND d.last = h.last)
ORDER BY h.first, h.last, h.pages DESC, h.id
