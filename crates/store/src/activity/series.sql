-- The buckets of one agent, or of all ($1 = 0), of a step ($2), from $3 up to $4, the oldest first.
SELECT start, pages, fetches, errors, fetched_bytes, shipped_bytes, timed_fetches, round_trip_us,
       probes, searches, queued
FROM activity
WHERE agent = $1 AND step = $2 AND start >= $3 AND start < $4
  AND day BETWEEN ($3 AT TIME ZONE 'UTC')::date AND ($4 AT TIME ZONE 'UTC')::date
ORDER BY start
