-- Searches that are over in the order of their decisions, those after a position in it, each with
-- its probes. The probes are looked up search by search: a join of both tables would read all
-- probes of the past. Left out is what agents measured where they are no more, and control probes:
-- they also ask agents whose reports are doubted.
SELECT s.id, (extract(epoch FROM s.decided_at) * 1000000)::bigint, s.first, s.last, p.agents,
       p.times
FROM (SELECT id, decided_at, first, last FROM searches
      WHERE state = 'decided'
        AND (decided_at, id) > (timestamptz 'epoch' + $1::bigint * interval '1 microsecond', $2)
      ORDER BY decided_at, id LIMIT $3) AS s
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(p.agent ORDER BY p.step), '{}') AS agents,
           coalesce(array_agg(p.rtt_us ORDER BY p.step), '{}') AS times
    FROM probes p JOIN agents a ON a.id = p.agent
    WHERE p.search = s.id AND p.state = 'measured' AND p.phase IS DISTINCT FROM 'control'
      AND p.answered_at >= coalesce(a.home_since, '-infinity')
) AS p
ORDER BY s.decided_at, s.id
