-- A round trip was confirmed by three packages an hour after the shortest one, which may all repeat
-- one other handshake. Each package is compared with the last one that counted, too.
ALTER TABLE round_trips
    ADD COLUMN counted_us integer,
    ADD COLUMN counted_at timestamptz;
UPDATE round_trips SET packages = 1, counted_us = rtt_us, counted_at = reported_at;
ALTER TABLE round_trips
    ALTER COLUMN counted_us SET NOT NULL,
    ALTER COLUMN counted_at SET NOT NULL;
COMMENT ON COLUMN round_trips.packages IS
    'Packages that reported handshakes of their own, each an hour after the one before. Written '
    'by: coordinator at ingestion.';
COMMENT ON COLUMN round_trips.counted_us IS
    'The round trip of the package that counted last, in microseconds. Written by: coordinator at '
    'ingestion.';
COMMENT ON COLUMN round_trips.counted_at IS
    'When that package was reported. Written by: coordinator at ingestion.';
