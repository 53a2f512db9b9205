-- Counts measured round trips of probes of $1 by country.
INSERT INTO agent_countries AS c (agent, country, probes, probe_us)
SELECT $1, t.country, count(*), sum(t.rtt_us)
FROM unnest($2::text[], $3::bigint[]) AS t (country, rtt_us)
GROUP BY t.country ORDER BY t.country
ON CONFLICT (agent, country) DO UPDATE SET
    probes = c.probes + excluded.probes, probe_us = c.probe_us + excluded.probe_us
