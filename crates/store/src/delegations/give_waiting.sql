-- Gives those of these hosts ($1) that wait to the agent that has their subnet.
UPDATE hosts h SET state = 'delegated', agent = d.agent
FROM delegations d
WHERE h.id = ANY($1) AND h.state = 'resolved'
  AND d.first = h.first AND d.last = h.last AND d.ended_at IS NULL
