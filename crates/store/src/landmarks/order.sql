-- Orders these measurements; one that is ordered already is left as it is.
INSERT INTO probes (purpose, landmark, agent, target, target_host, target_port, asked_at)
SELECT 'landmark', l.id, d.agent, l.address, l.host, l.port, $3
FROM unnest($1::bigint[], $2::bigint[]) AS d (landmark, agent)
JOIN landmarks l ON l.id = d.landmark AND l.state = 'live'
ON CONFLICT DO NOTHING
