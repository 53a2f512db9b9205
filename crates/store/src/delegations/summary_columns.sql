-- Columns of a delegation with its agent, its search and counts of probes and hosts, of which at
-- most 10,001 are counted: a subnet of a large hoster has hundreds of thousands.
SELECT d.id, d.first, d.last, d.agent, a.name AS agent_name, a.home AS agent_home, d.fencing_number,
       d.reason, d.provisional, d.rtt_us, d.decided_at, d.ended_at, d.search, s.threshold_us,
       (SELECT count(*) FROM probes p WHERE p.search = d.search) AS probes,
       (SELECT count(*) FROM (SELECT FROM hosts h
           WHERE h.first = d.first AND h.last = d.last LIMIT 10001) AS few) AS hosts
FROM delegations d
JOIN agents a ON a.id = d.agent
LEFT JOIN searches s ON s.id = d.search
