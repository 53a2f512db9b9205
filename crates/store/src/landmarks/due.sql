-- Landmarks that agents have not measured since $3 from their present home: unmeasured ones first,
-- then the oldest.
SELECT a.id, due.id, due.address
FROM unnest($1::bigint[], $2::bigint[]) AS w (agent, room)
JOIN agents a ON a.id = w.agent
CROSS JOIN LATERAL (
   SELECT l.id, l.address FROM landmarks l
   LEFT JOIN landmark_times t ON t.landmark = l.id AND t.agent = a.id AND t.home = a.home
   WHERE l.state = 'live' AND (t.measured_at IS NULL OR t.measured_at < $3)
     AND NOT EXISTS (SELECT FROM probes p WHERE p.landmark = l.id AND p.agent = a.id
                                            AND p.state = 'asked' AND p.purpose = 'landmark')
   ORDER BY t.measured_at NULLS FIRST, l.id LIMIT w.room) AS due
