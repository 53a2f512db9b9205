-- The last answers of agents about these subnets in searches. Orders that are open or expired count
-- only where there is no answer, and those that expired only since $3. What an agent answered
-- before its machine moved says nothing.
SELECT DISTINCT ON (s.first, s.last, p.agent) s.first, s.last, p.id, p.agent, p.phase, p.state,
       p.rtt_us
FROM unnest($1::inet[], $2::inet[]) AS w (first, last)
JOIN searches s ON s.first = w.first AND s.last = w.last
JOIN probes p ON p.search = s.id AND (p.state <> 'expired' OR p.answered_at > $3)
JOIN agents a ON a.id = p.agent
WHERE p.answered_at IS NULL OR p.answered_at >= coalesce(a.home_since, '-infinity')
ORDER BY s.first, s.last, p.agent, p.state IN ('asked', 'expired'), p.answered_at DESC
