-- 1: selects the round trips to addresses in the subnets of their hosts.
WITH reported AS (
    SELECT h.first, h.last, t.address, min(t.rtt_us) AS rtt_us
    FROM unnest($1::text[], $2::text[], $3::inet[], $4::int[]) AS t (scheme, authority, address,
        rtt_us)
    JOIN hosts h ON h.scheme = t.scheme AND h.authority = t.authority
    WHERE h.first IS NOT NULL AND t.address BETWEEN h.first AND h.last
    GROUP BY h.first, h.last, t.address
), before AS (
    -- 2: reads the times of before, and how many packages had confirmed them.
    SELECT r.address, r.packages, r.rtt_us FROM round_trips r
    WHERE r.agent = $5 AND r.address IN (SELECT address FROM reported)
), noted AS (
    -- 3: keeps the shortest time of each address and agent; a time older than 90 days is replaced.
    --    Fetches over a kept connection repeat the time of its handshake, and a slow line is slow
    --    for many in a row. A package counts if it brings another time, an hour after the last one
    --    that counted.
    INSERT INTO round_trips AS r (address, agent, rtt_us, reported_at, counted_us, counted_at)
    SELECT address, $5, min(rtt_us), $6, min(rtt_us), $6
    FROM reported GROUP BY address ORDER BY address
    ON CONFLICT (address, agent) DO UPDATE SET
        (rtt_us, packages, reported_at, counted_us, counted_at) = (
            SELECT CASE WHEN c.is_old THEN excluded.rtt_us
                        ELSE least(r.rtt_us, excluded.rtt_us) END,
                   CASE WHEN c.is_old THEN 1 WHEN c.counts THEN r.packages + 1
                        ELSE r.packages END,
                   CASE WHEN c.is_old OR excluded.rtt_us < r.rtt_us THEN excluded.reported_at
                        ELSE r.reported_at END,
                   CASE WHEN c.is_old OR c.counts THEN excluded.rtt_us ELSE r.counted_us END,
                   CASE WHEN c.is_old OR c.counts THEN excluded.reported_at
                        ELSE r.counted_at END
            FROM (SELECT r.reported_at < excluded.reported_at - interval '90 days' AS is_old,
                         r.counted_at <= excluded.reported_at - interval '1 hour'
                             AND excluded.rtt_us NOT IN (r.rtt_us, r.counted_us) AS counts) AS c)
    RETURNING address, packages
)
-- 4: returns the shortest time of each subnet, and the addresses of which this package confirms
--    the time, or makes a confirmed one shorter.
SELECT w.first, w.last, (array_agg(w.address ORDER BY w.rtt_us))[1], min(w.rtt_us),
       coalesce(array_agg(w.address ORDER BY w.address) FILTER (
           WHERE n.packages >= $7 AND (coalesce(b.packages, 0) < $7 OR w.rtt_us < b.rtt_us)), '{}')
FROM reported w JOIN noted n ON n.address = w.address
LEFT JOIN before b ON b.address = w.address
GROUP BY w.first, w.last ORDER BY w.first, w.last
