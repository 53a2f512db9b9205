-- 1: stores the reports on open orders, and on expired orders whose search is still open.
WITH reported AS (
    UPDATE probes p SET state = r.state, method = r.method, rtt_us = r.rtt_us, samples = r.samples,
                        reason = r.reason, answered_at = $8
    FROM unnest($2::bigint[], $3::text[], $4::text[], $5::int[], $6::smallint[], $7::text[])
         AS r (id, state, method, rtt_us, samples, reason)
    WHERE p.id = r.id AND p.agent = $1
      AND (p.state = 'asked' OR p.state = 'expired' AND (p.search IS NULL OR EXISTS
           (SELECT FROM searches s WHERE s.id = p.search AND s.state = 'open')))
    RETURNING p.id, p.purpose, p.landmark, p.search, p.target, p.state, p.method, p.rtt_us,
              p.home_of
), times AS (
    -- 2: renews the times of landmarks; the time before is kept if the agent has not moved.
    INSERT INTO landmark_times AS t (landmark, agent, home, outcome, rtt_us, measured_at)
    SELECT DISTINCT ON (n.landmark) n.landmark, a.id, a.home, n.state, n.rtt_us, $8
    FROM reported n JOIN agents a ON a.id = $1
    WHERE n.purpose = 'landmark' ORDER BY n.landmark, n.id DESC
    ON CONFLICT (landmark, agent) DO UPDATE
    SET outcome = excluded.outcome, rtt_us = excluded.rtt_us, home = excluded.home,
        measured_at = excluded.measured_at, judged = false,
        before_us = CASE WHEN t.home = excluded.home THEN coalesce(t.rtt_us, t.before_us) END
), homes AS (
    -- 3: renews the times of home addresses.
    INSERT INTO home_times (agent, witness, home, rtt_us, measured_at)
    SELECT DISTINCT ON (home_of) home_of, $1, target, rtt_us, $8
    FROM reported WHERE purpose = 'home' ORDER BY home_of, id DESC
    ON CONFLICT (agent, witness) DO UPDATE
    SET home = excluded.home, rtt_us = excluded.rtt_us, measured_at = excluded.measured_at
), paths AS (
    -- 4: a measured path is compared like a new connection. HEAD measures the server as well.
    UPDATE timing_reports t SET connect_us = n.rtt_us, connect_at = $8, path_probe = NULL
    FROM reported n
    WHERE n.purpose = 'path' AND n.state = 'measured' AND n.method <> 'head'
      AND t.path_probe = n.id AND t.agent = $1
), answered AS (
    -- 5: addresses that answered are not silent any more.
    DELETE FROM silent_addresses WHERE address IN (
        SELECT coalesce(n.target, s.target) FROM reported n LEFT JOIN searches s ON s.id = n.search
        WHERE n.state = 'measured')
)
-- 6: counts the stored reports by purpose.
SELECT count(*) FILTER (WHERE purpose = 'search') AS search,
       count(*) FILTER (WHERE purpose = 'landmark') AS landmark,
       count(*) FILTER (WHERE purpose IN ('check', 'path')) AS check,
       count(*) FILTER (WHERE purpose = 'home') AS home
FROM reported
