-- Adds what agents did to the minute, the hour and the day of $1. Rows are locked in the same order
-- by all transactions, and after all other rows, so that none waits for another in a circle.
INSERT INTO activity AS a
    (step, day, start, agent, pages, fetches, errors, fetched_bytes, shipped_bytes, timed_fetches,
     round_trip_us, probes, searches, queued)
SELECT s.step, ($1 AT TIME ZONE 'UTC')::date, date_trunc(s.step, $1::timestamptz, 'UTC'), n.*
FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
            $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[])
     AS n (agent, pages, fetches, errors, fetched_bytes, shipped_bytes, timed_fetches,
           round_trip_us, probes, searches, queued)
CROSS JOIN (VALUES ('minute'), ('hour'), ('day')) AS s (step)
ORDER BY n.agent, s.step
ON CONFLICT (agent, step, start, day) DO UPDATE SET
    pages = a.pages + excluded.pages,
    fetches = a.fetches + excluded.fetches,
    errors = a.errors + excluded.errors,
    -- What a dishonest agent claims must not make the ingestion fail.
    fetched_bytes = least(a.fetched_bytes::numeric + excluded.fetched_bytes, 9223372036854775807),
    shipped_bytes = a.shipped_bytes + excluded.shipped_bytes,
    timed_fetches = a.timed_fetches + excluded.timed_fetches,
    round_trip_us = least(a.round_trip_us::numeric + excluded.round_trip_us, 9223372036854775807),
    probes = a.probes + excluded.probes,
    searches = a.searches + excluded.searches,
    queued = coalesce(excluded.queued, a.queued)
