-- Orders that hosts ($1) be released.
INSERT INTO handovers (host, agent, task, asked_at)
SELECT h.id, h.agent, 'release', $2 FROM hosts h WHERE h.id = ANY($1) ORDER BY h.id
ON CONFLICT (host) WHERE ended_at IS NULL DO NOTHING
