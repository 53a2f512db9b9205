-- Orders that hosts be handed over to these agents.
INSERT INTO handovers (host, agent, next_agent, task, asked_at)
SELECT h.id, h.agent, m.next_agent, 'release', $3
FROM unnest($1::bigint[], $2::bigint[]) AS m (host, next_agent) JOIN hosts h ON h.id = m.host
    ORDER BY h.id
ON CONFLICT (host) WHERE ended_at IS NULL DO UPDATE SET next_agent = excluded.next_agent
