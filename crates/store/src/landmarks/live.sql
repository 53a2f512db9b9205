-- The landmarks in use, with a number above `after`, in order.
SELECT l.id, l.first, l.last, l.address, l.host, l.port, l.chosen_at,
       count(*) FILTER (WHERE t.outcome = 'measured'),
           count(*) FILTER (WHERE t.outcome = 'unreachable'),
       max(t.measured_at)
FROM landmarks l
LEFT JOIN (landmark_times t JOIN agents a ON a.id = t.agent AND a.home = t.home
                                         AND a.state IN ('approved', 'paused')) ON t.landmark = l.id
WHERE l.state = 'live' AND l.id > $1 GROUP BY l.id ORDER BY l.id LIMIT $2
