-- Adds the counts of a package to those of the subnets of its hosts. The counts of another agent
-- are replaced. Sums that no column holds become the largest value.
INSERT INTO timing_reports AS s (first, last, agent, usual, slower, ratio, url, reported_at)
SELECT h.first, h.last, $7, sum(t.usual)::int, sum(t.slower)::int,
       (array_agg(t.ratio) FILTER (WHERE t.ratio IS NOT NULL))[1],
       (array_agg(t.url) FILTER (WHERE t.ratio IS NOT NULL))[1], $8
FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::double precision[], $6::text[])
     AS t (scheme, authority, usual, slower, ratio, url)
JOIN hosts h ON h.scheme = t.scheme AND h.authority = t.authority
WHERE h.agent = $7 AND h.state = 'delegated' AND h.first IS NOT NULL
GROUP BY h.first, h.last
ON CONFLICT (first, last) DO UPDATE SET
    agent = excluded.agent, reported_at = excluded.reported_at,
    usual = least(excluded.usual::bigint
        + CASE WHEN s.agent = excluded.agent THEN s.usual ELSE 0 END, 2147483647),
    slower = least(excluded.slower::bigint
        + CASE WHEN s.agent = excluded.agent THEN s.slower ELSE 0 END, 2147483647),
    ratio = coalesce(excluded.ratio, CASE WHEN s.agent = excluded.agent THEN s.ratio END),
    url = coalesce(excluded.url, CASE WHEN s.agent = excluded.agent THEN s.url END),
    summary = CASE WHEN s.agent = excluded.agent THEN s.summary END
