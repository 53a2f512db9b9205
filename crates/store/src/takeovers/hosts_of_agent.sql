-- The oldest hosts of an agent ($1) after one ($3) whose subnets are delegated to it, with the
-- fencing numbers of the subnets.
SELECT h.id, h.first, h.last, d.fencing_number, h.scheme || '://' || h.authority, h.address
FROM hosts h
JOIN delegations d
  ON d.first = h.first AND d.last = h.last AND d.ended_at IS NULL AND d.agent = h.agent
WHERE h.agent = $1 AND h.id > $3 AND h.state = 'delegated' AND h.address IS NOT NULL
ORDER BY h.id LIMIT $2
