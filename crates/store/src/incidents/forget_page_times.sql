-- Orders the agent to forget the usual times of pages of the subnet's hosts.
INSERT INTO handovers (host, agent, task, asked_at)
SELECT h.id, h.agent, 'settle', $4 FROM hosts h
WHERE h.first = $1 AND h.last = $2 AND h.agent = $3 AND h.state = 'delegated'
ORDER BY h.id ON CONFLICT (host) WHERE ended_at IS NULL DO NOTHING
