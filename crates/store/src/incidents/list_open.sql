-- Open incidents, oldest first, with their probe (p), their search (s), the present delegation (h),
-- and the target (t) of the search that led to the first one (o).
SELECT c.id, c.first, c.last, c.agent, c.delegation, o.rtt_us AS original_us, c.ratio,
       c.path_ratio, c.controls, c.state,
       c.control_probe, c.before_us, p.id AS probe, p.agent AS probe_agent, p.state AS probe_state,
       p.rtt_us AS probe_us, s.id AS search, s.state = 'open' AS search_open, c.next_agent,
           c.failback,
       h.id AS holds, h.agent AS holds_agent, h.rtt_us AS holds_us,
       -- Others only keep the number of the search that last looked at the subnet.
       CASE WHEN h.reason IN ('company', 'threshold', 'lowest', 'predicted') THEN h.search END
           AS holds_search,
       t.target, t.target_host, t.target_port
FROM incidents c
JOIN delegations o ON o.id = c.delegation
LEFT JOIN searches t ON t.id = o.search
LEFT JOIN probes p ON p.id = c.probe
LEFT JOIN searches s ON s.id = c.search
LEFT JOIN delegations h ON h.first = c.first AND h.last = c.last AND h.ended_at IS NULL
WHERE c.ended_at IS NULL ORDER BY c.id
