-- The longest round trip first; $7 and $1 are the round trip of the last one before the page, and
-- its number.
  AND d.rtt_us IS NOT NULL AND ($7::bigint IS NULL OR (d.rtt_us, d.id) < ($7, $1))
ORDER BY d.rtt_us DESC, d.id DESC LIMIT $2
