-- Gives hosts that wait to the agent that has their subnet.
UPDATE hosts h SET state = 'delegated', agent = d.agent
FROM delegations d
WHERE h.state = 'resolved' AND d.first = h.first AND d.last = h.last AND d.ended_at IS NULL
