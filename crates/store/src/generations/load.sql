-- Makes the loaded generation live.
UPDATE generations SET state = 'live', live_at = clock_timestamp(), build_ms = $2, sources = $3,
                       read_at = coalesce($4, clock_timestamp())
WHERE id = $1
