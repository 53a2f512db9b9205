-- Searches that are over with a number below `before`, the newest first, each with its probes. The
-- probes are looked up search by search: a join of both tables would read all probes of the past.
SELECT s.id, s.first, s.last, p.agents, p.times
FROM (SELECT id, first, last FROM searches WHERE state = 'decided' AND id < $1
      ORDER BY id DESC LIMIT $2) AS s
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(agent ORDER BY step), '{}') AS agents,
           coalesce(array_agg(rtt_us ORDER BY step), '{}') AS times
    FROM probes WHERE search = s.id AND state = 'measured'
) AS p
ORDER BY s.id DESC
