-- 1: retires landmarks, each for the reason beside it.
WITH retired AS (
   UPDATE landmarks l SET state = 'retired', retired_at = $3, reason = r.reason
   FROM unnest($1::bigint[], $2::text[]) AS r (id, reason)
   WHERE l.id = r.id AND l.state = 'live' RETURNING l.id
), over AS (
   -- 2: ends their unanswered orders.
   UPDATE probes p SET state = 'expired', answered_at = $3, reason = 'the landmark was retired'
   FROM retired r WHERE p.landmark = r.id AND p.state = 'asked' AND p.purpose = 'landmark'
)
SELECT count(*) FROM retired
