-- Ends a search that brought no answer from its target: its subnet's hosts that wait try again at
-- `retry_at`, for the reason given; those that did so `attempts` times are given up, with the URLs
-- that wait for them.
WITH over AS (
   UPDATE searches SET state = 'decided', decided_at = $5 WHERE id = $1 AND state = 'open'
   RETURNING first, last, target
), noted AS (
   INSERT INTO silent_addresses (address, since) SELECT target, $5 FROM over
   ON CONFLICT (address) DO UPDATE SET since = excluded.since
), tried AS (
   UPDATE hosts h SET attempts = h.attempts + 1, reason = $2, retry_at = $3,
          state = CASE WHEN h.attempts + 1 >= $4 THEN 'failed' ELSE h.state END
   FROM over WHERE h.first = over.first AND h.last = over.last AND h.state = 'resolved'
   RETURNING h.id, h.state
)
SELECT id FROM tried WHERE state = 'failed'
