-- Searches that are over with a number below `before`, the newest first.
SELECT s.id, s.first, s.last,
       coalesce(array_agg(p.agent ORDER BY p.step) FILTER (WHERE p.id IS NOT NULL), '{}'),
       coalesce(array_agg(p.rtt_us ORDER BY p.step) FILTER (WHERE p.id IS NOT NULL), '{}')
FROM (SELECT id, first, last FROM searches WHERE state = 'decided' AND id < $1
      ORDER BY id DESC LIMIT $2) AS s
LEFT JOIN probes p ON p.search = s.id AND p.state = 'measured'
GROUP BY s.id, s.first, s.last ORDER BY s.id DESC
