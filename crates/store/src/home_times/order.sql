-- Orders these measurements; one that is ordered already is left as it is.
INSERT INTO probes (purpose, home_of, agent, target, target_host, target_port, asked_at)
SELECT 'home', a.id, d.witness, a.home, host(a.home), 443, $3
FROM unnest($1::bigint[], $2::bigint[]) AS d (agent, witness)
JOIN agents a ON a.id = d.agent
ON CONFLICT DO NOTHING RETURNING agent
