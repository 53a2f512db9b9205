-- 1: selects the round trips to addresses in the subnets of their hosts.
WITH reported AS (
    SELECT h.first, h.last, t.address, min(t.rtt_us) AS rtt_us
    FROM unnest($1::text[], $2::text[], $3::inet[], $4::int[]) AS t (scheme, authority, address,
        rtt_us)
    JOIN hosts h ON h.scheme = t.scheme AND h.authority = t.authority
    WHERE h.first IS NOT NULL AND t.address BETWEEN h.first AND h.last
    GROUP BY h.first, h.last, t.address
), before AS (
    -- 2: reads how many packages had confirmed these times.
    SELECT r.address, r.packages FROM round_trips r
    WHERE r.agent = $5 AND r.address IN (SELECT address FROM reported)
), noted AS (
    -- 3: keeps the shortest time of each address and agent; a time older than 90 days is replaced.
    --    Fetches over a kept connection repeat the time of its handshake, and a slow line is slow
    --    for many in a row. A package counts if it brings another time an hour later.
    INSERT INTO round_trips AS r (address, agent, rtt_us, reported_at)
    SELECT address, $5, min(rtt_us), $6 FROM reported GROUP BY address ORDER BY address
    ON CONFLICT (address, agent) DO UPDATE SET
        rtt_us = CASE WHEN r.reported_at < excluded.reported_at - interval '90 days'
            THEN excluded.rtt_us
                      ELSE least(r.rtt_us, excluded.rtt_us) END,
        packages = CASE WHEN r.reported_at < excluded.reported_at - interval '90 days' THEN 1
                        WHEN r.reported_at <= excluded.reported_at - interval '1 hour'
                            AND r.rtt_us <> excluded.rtt_us THEN r.packages + 1
                        ELSE r.packages END,
        reported_at = CASE WHEN excluded.rtt_us < r.rtt_us
            OR r.reported_at < excluded.reported_at - interval '90 days'
                        THEN excluded.reported_at ELSE r.reported_at END
    RETURNING address, packages
)
-- 4: returns the shortest time of each subnet, and whether this package confirms one in it.
SELECT w.first, w.last, (array_agg(w.address ORDER BY w.rtt_us))[1], min(w.rtt_us),
       bool_or(n.packages >= $7 AND coalesce(b.packages, 0) < $7)
FROM reported w JOIN noted n ON n.address = w.address
LEFT JOIN before b ON b.address = w.address
GROUP BY w.first, w.last ORDER BY w.first, w.last
