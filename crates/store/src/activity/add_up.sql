-- Adds the rows of all agents up in the row of agent 0, as of $1.
-- 1: the last minute that was added up. The two minutes before it are added up again, because a
--    transaction may have committed later than another that began after it. Minutes of the future
--    are those of another coordinator, whose clock is ahead.
WITH since AS (
    SELECT coalesce(
        (SELECT max(start) FROM activity WHERE step = 'minute' AND agent = 0 AND start <= $1)
            - interval '2 minutes',
        $1::timestamptz - interval '1 hour') AS start
), changed AS (
    -- 2: the steps in which that time lies, and all later ones.
    SELECT s.step, date_trunc(s.step, since.start, 'UTC') AS start
    FROM since CROSS JOIN (VALUES ('minute'), ('hour'), ('day')) AS s (step)
), queue AS (
    -- 3: all URLs that wait, at agents and for an agent.
    SELECT least((SELECT coalesce(sum((status ->> 'queued')::numeric), 0) FROM agents
                  WHERE state IN ('approved', 'paused'))
                 + (SELECT coalesce(sum(value), 0) FROM (
                        SELECT value FROM counts WHERE name = 'pending_urls'
                        UNION ALL SELECT change FROM count_changes WHERE name = 'pending_urls')
                    AS waiting), 9223372036854775807)::bigint AS queued
)
INSERT INTO activity AS a
    (step, day, start, agent, pages, fetches, errors, fetched_bytes, shipped_bytes, timed_fetches,
     round_trip_us, probes, searches, queued)
SELECT n.step, n.day, n.start, 0, n.pages, n.fetches, n.errors,
       least(n.fetched_bytes, 9223372036854775807), least(n.shipped_bytes, 9223372036854775807),
       n.timed_fetches, least(n.round_trip_us, 9223372036854775807), n.probes, n.searches,
       -- The queue is known for the present time only.
       CASE WHEN n.start = date_trunc(n.step, $1::timestamptz, 'UTC') THEN q.queued END
FROM changed c CROSS JOIN queue q CROSS JOIN LATERAL (
    SELECT step, day, start, sum(pages) AS pages, sum(fetches) AS fetches, sum(errors) AS errors,
           sum(fetched_bytes) AS fetched_bytes, sum(shipped_bytes) AS shipped_bytes,
           sum(timed_fetches) AS timed_fetches, sum(round_trip_us) AS round_trip_us,
           sum(probes) AS probes, sum(searches) AS searches
    FROM activity
    WHERE step = c.step AND start >= c.start AND agent > 0
      AND day >= (c.start AT TIME ZONE 'UTC')::date
    GROUP BY step, day, start
) AS n
ON CONFLICT (agent, step, start, day) DO UPDATE SET
    pages = excluded.pages, fetches = excluded.fetches, errors = excluded.errors,
    fetched_bytes = excluded.fetched_bytes, shipped_bytes = excluded.shipped_bytes,
    timed_fetches = excluded.timed_fetches, round_trip_us = excluded.round_trip_us,
    probes = excluded.probes, searches = excluded.searches,
    queued = coalesce(excluded.queued, a.queued)
WHERE (a.pages, a.fetches, a.errors, a.fetched_bytes, a.shipped_bytes, a.timed_fetches,
       a.round_trip_us, a.probes, a.searches, a.queued)
    IS DISTINCT FROM (excluded.pages, excluded.fetches, excluded.errors, excluded.fetched_bytes,
       excluded.shipped_bytes, excluded.timed_fetches, excluded.round_trip_us, excluded.probes,
       excluded.searches, coalesce(excluded.queued, a.queued))
