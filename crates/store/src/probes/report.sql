-- 1: stores the reports on open orders, and on expired orders whose search is still open.
WITH reported AS (
    UPDATE probes p SET state = r.state, method = r.method, rtt_us = r.rtt_us, samples = r.samples,
                        reason = r.reason, answered_at = $8
    FROM unnest($2::bigint[], $3::text[], $4::text[], $5::int[], $6::smallint[], $7::text[])
         AS r (id, state, method, rtt_us, samples, reason)
    WHERE p.id = r.id AND p.agent = $1
      AND (p.state = 'asked' OR p.state = 'expired' AND (p.search IS NULL OR EXISTS
           (SELECT FROM searches s WHERE s.id = p.search AND s.state = 'open')))
    RETURNING p.id, p.purpose, p.search, p.target, p.state, p.method, p.rtt_us,
              p.home_of
), homes AS (
    -- 2: renews the times of home addresses.
    INSERT INTO home_times (agent, witness, home, rtt_us, measured_at)
    SELECT DISTINCT ON (home_of) home_of, $1, target, rtt_us, $8
    FROM reported WHERE purpose = 'home' ORDER BY home_of, id DESC
    ON CONFLICT (agent, witness) DO UPDATE
    SET home = excluded.home, rtt_us = excluded.rtt_us, measured_at = excluded.measured_at
), paths AS (
    -- 3: a measured path is compared like a new connection. HEAD measures the server as well.
    UPDATE timing_reports t SET connect_us = n.rtt_us, connect_at = $8, path_probe = NULL
    FROM reported n
    WHERE n.purpose = 'path' AND n.state = 'measured' AND n.method <> 'head'
      AND t.path_probe = n.id AND t.agent = $1
), answered AS (
    -- 4: addresses that answered are not silent any more.
    DELETE FROM silent_addresses WHERE address IN (
        SELECT coalesce(n.target, s.target) FROM reported n LEFT JOIN searches s ON s.id = n.search
        WHERE n.state = 'measured')
)
-- 5: counts the stored reports by purpose.
SELECT count(*) FILTER (WHERE purpose = 'search') AS search,
       count(*) FILTER (WHERE purpose IN ('check', 'path')) AS check,
       count(*) FILTER (WHERE purpose = 'home') AS home
FROM reported
