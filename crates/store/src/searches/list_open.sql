-- Open searches after $1, oldest first, with the fencing number and the provisional agent of their
-- subnets. $2: with a provisional agent. $4, $5: fewer than $4 unanswered orders, or opened until
-- $5.
SELECT s.id, s.first, s.last, s.target, s.strategy, s.threshold_us, s.opened_at,
       coalesce((SELECT max(fencing_number) FROM delegations g WHERE g.first = s.first
           AND g.last = s.last), 0) AS fencing_number,
       d.agent AS provisional
FROM searches s
LEFT JOIN delegations d ON d.first = s.first AND d.last = s.last AND d.ended_at IS NULL
    AND d.search = s.id
LEFT JOIN (SELECT search, count(*) AS orders FROM probes
    WHERE state = 'asked' GROUP BY search) p ON p.search = s.id
WHERE s.state = 'open' AND s.id + 0 > $1 AND (d.id IS NOT NULL) = $2
  AND (s.opened_at <= $5 OR coalesce(p.orders, 0) < $4)
ORDER BY s.id LIMIT $3
