-- Subnets with new reports, those waiting longest first.
SELECT s.first, s.last, s.agent, s.usual, s.slower, s.ratio, s.url, s.summary, s.connect_us,
       s.connect_at, s.path, d.decided_at AS delegated_at
FROM timing_reports s
LEFT JOIN delegations d ON d.first = s.first AND d.last = s.last AND d.agent = s.agent
    AND d.ended_at IS NULL
WHERE s.usual + s.slower > 0 OR s.connect_us IS NOT NULL ORDER BY s.reported_at LIMIT $1
