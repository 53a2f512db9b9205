-- Strikes landmarks off, each for the reason beside it; their orders that are under way are over.
WITH retired AS (
   UPDATE landmarks l SET state = 'retired', retired_at = $3, reason = r.reason
   FROM unnest($1::bigint[], $2::text[]) AS r (id, reason)
   WHERE l.id = r.id AND l.state = 'live' RETURNING l.id
), over AS (
   UPDATE probes p SET state = 'expired', answered_at = $3, reason = 'the landmark was retired'
   FROM retired r WHERE p.landmark = r.id AND p.state = 'asked' AND p.purpose = 'landmark'
)
SELECT count(*) FROM retired
