-- Has the paths checked of which round trips are known, but none of a new connection: where
-- robots.txt opens each connection, as on weekly visits, no fetch would ever be compared.
-- 1: the subnets of the hosts for which this agent has no time of a check and no round trip that
--    is to be compared.
WITH unknown AS (
    SELECT DISTINCT h.first, h.last
    FROM unnest($1::text[], $2::text[]) AS t (scheme, authority)
    JOIN hosts h ON h.scheme = t.scheme AND h.authority = t.authority
    WHERE h.agent = $3 AND h.state = 'delegated' AND h.first IS NOT NULL AND NOT EXISTS (
        SELECT FROM timing_reports r WHERE r.first = h.first AND r.last = h.last
            AND r.agent = $3 AND (r.check_at IS NOT NULL OR r.connect_us IS NOT NULL))
)
-- 2: what another agent had reported says nothing about this one.
INSERT INTO timing_reports AS r (first, last, agent, reported_at, check_at)
SELECT first, last, $3, $4, $5 FROM unknown
ON CONFLICT (first, last) DO UPDATE SET
    agent = excluded.agent, check_at = excluded.check_at,
    reported_at = CASE WHEN r.agent = excluded.agent THEN r.reported_at ELSE $4 END,
    usual = CASE WHEN r.agent = excluded.agent THEN r.usual ELSE 0 END,
    slower = CASE WHEN r.agent = excluded.agent THEN r.slower ELSE 0 END,
    ratio = CASE WHEN r.agent = excluded.agent THEN r.ratio END,
    url = CASE WHEN r.agent = excluded.agent THEN r.url END,
    summary = CASE WHEN r.agent = excluded.agent THEN r.summary END,
    connect_us = CASE WHEN r.agent = excluded.agent THEN r.connect_us END,
    connect_at = CASE WHEN r.agent = excluded.agent THEN r.connect_at END,
    path = CASE WHEN r.agent = excluded.agent THEN r.path END,
    path_probe = CASE WHEN r.agent = excluded.agent THEN r.path_probe END,
    unanswered_checks = CASE WHEN r.agent = excluded.agent THEN r.unanswered_checks ELSE 0 END
WHERE r.agent <> excluded.agent OR r.check_at IS NULL
