-- The probes of a search, in order.
SELECT p.id, p.step, p.agent, a.name AS agent_name, p.phase, p.level_first, p.level_last,
    p.expected_us,
       p.deviation_us, p.chance, p.state, p.method, p.rtt_us, p.samples, p.reason, p.asked_at,
           p.answered_at
FROM probes p JOIN agents a ON a.id = p.agent
WHERE p.search = $1 ORDER BY p.step
