-- Counts the hosts whose agent ($4) connected to an address outside of their subnets, and forgets
-- those with one inside. At most one package of a host counts each hour, and none beyond $6. Hosts
-- that were looked up again stay until their packages count again.
WITH connected AS (
    SELECT h.id, t.address BETWEEN h.first AND h.last AS is_inside
    FROM unnest($1::text[], $2::text[], $3::inet[]) AS t (scheme, authority, address)
    JOIN hosts h ON h.scheme = t.scheme AND h.authority = t.authority
    WHERE h.state = 'delegated' AND h.agent = $4 AND h.first IS NOT NULL
), returned AS (
    DELETE FROM stray_hosts s USING connected c
    WHERE s.host = c.id AND c.is_inside AND s.counted_at <= $5
)
INSERT INTO stray_hosts AS s (host, packages, counted_at)
SELECT id, 1, $5 FROM connected WHERE NOT is_inside ORDER BY id
ON CONFLICT (host) DO UPDATE SET packages = s.packages + 1, counted_at = excluded.counted_at
    WHERE s.packages < $6 AND s.counted_at <= excluded.counted_at - interval '1 hour'
