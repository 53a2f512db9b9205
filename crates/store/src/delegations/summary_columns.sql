-- Columns of a delegation with its agent, its search and counts of probes and hosts.
SELECT d.id, d.first, d.last, d.agent, a.name AS agent_name, a.home AS agent_home, d.generation,
       d.reason, d.provisional, d.rtt_us, d.decided_at, d.ended_at, d.search, s.threshold_us,
       (SELECT count(*) FROM probes p WHERE p.search = d.search) AS probes,
       (SELECT count(*) FROM hosts h WHERE h.first = d.first AND h.last = d.last) AS hosts
FROM delegations d
JOIN agents a ON a.id = d.agent
LEFT JOIN searches s ON s.id = d.search
