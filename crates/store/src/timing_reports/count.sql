-- Adds the counts of a package to those of the subnets of its hosts. The counts of another agent
-- are replaced. Sums that no column holds become the largest value.
-- 1: the counts of each subnet, and the round trip of one new connection to an address inside it.
WITH told AS (
    SELECT h.first, h.last, sum(t.usual)::int AS usual, sum(t.slower)::int AS slower,
           (array_agg(t.ratio) FILTER (WHERE t.ratio IS NOT NULL))[1] AS ratio,
           (array_agg(t.url) FILTER (WHERE t.ratio IS NOT NULL))[1] AS url,
           (array_agg(t.connect_us)
               FILTER (WHERE t.address BETWEEN h.first AND h.last))[1] AS connect_us
    FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::double precision[], $6::text[],
                $9::inet[], $10::int[])
         AS t (scheme, authority, usual, slower, ratio, url, address, connect_us)
    JOIN hosts h ON h.scheme = t.scheme AND h.authority = t.authority
    WHERE h.agent = $7 AND h.state = 'delegated' AND h.first IS NOT NULL
    GROUP BY h.first, h.last
)
INSERT INTO timing_reports AS s
    (first, last, agent, usual, slower, ratio, url, connect_us, connect_at, reported_at)
SELECT first, last, $7, usual, slower, ratio, url, connect_us,
       CASE WHEN connect_us IS NOT NULL THEN $8::timestamptz END, $8
FROM told WHERE usual + slower > 0 OR connect_us IS NOT NULL
ON CONFLICT (first, last) DO UPDATE SET
    agent = excluded.agent, reported_at = excluded.reported_at,
    usual = least(excluded.usual::bigint
        + CASE WHEN s.agent = excluded.agent THEN s.usual ELSE 0 END, 2147483647),
    slower = least(excluded.slower::bigint
        + CASE WHEN s.agent = excluded.agent THEN s.slower ELSE 0 END, 2147483647),
    ratio = coalesce(excluded.ratio, CASE WHEN s.agent = excluded.agent THEN s.ratio END),
    url = coalesce(excluded.url, CASE WHEN s.agent = excluded.agent THEN s.url END),
    summary = CASE WHEN s.agent = excluded.agent THEN s.summary END,
    -- 2: at most one round trip an hour: those of one hour are alike, and each costs a write.
    connect_us = CASE WHEN s.agent <> excluded.agent
            OR (excluded.connect_us IS NOT NULL
                AND coalesce(s.connect_at <= $8 - interval '1 hour', true))
        THEN excluded.connect_us ELSE s.connect_us END,
    connect_at = CASE WHEN s.agent <> excluded.agent
            OR (excluded.connect_us IS NOT NULL
                AND coalesce(s.connect_at <= $8 - interval '1 hour', true))
        THEN excluded.connect_at ELSE s.connect_at END,
    path = CASE WHEN s.agent = excluded.agent THEN s.path END,
    check_at = CASE WHEN s.agent = excluded.agent THEN s.check_at END,
    path_probe = CASE WHEN s.agent = excluded.agent THEN s.path_probe END,
    unanswered_checks = CASE WHEN s.agent = excluded.agent THEN s.unanswered_checks ELSE 0 END
WHERE excluded.usual + excluded.slower > 0 OR s.agent <> excluded.agent
    OR coalesce(s.connect_at <= $8 - interval '1 hour', true)
