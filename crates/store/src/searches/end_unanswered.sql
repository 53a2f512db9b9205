-- 1: closes the search.
WITH over AS (
   UPDATE searches SET state = 'unanswered', decided_at = $5 WHERE id = $1 AND state = 'open'
   RETURNING first, last, target
), noted AS (
   -- 2: notes that the target is silent.
   INSERT INTO silent_addresses (address, since) SELECT target, $5 FROM over
   ON CONFLICT (address) DO UPDATE SET since = excluded.since
), tried AS (
   -- 3: waiting hosts try again at their next time of $3, or fail after $4 attempts, for good
   --    until $6. Those that rest after an earlier search were not part of this one. The pause of a
   --    host that failed for silence before doubles up to 32 times: links to dead hosts come for
   --    years, and the searches for all of them would use up the probes of each day.
   UPDATE hosts h SET attempts = h.attempts + 1, reason = $2,
          retry_at = CASE WHEN h.attempts + 1 >= $4
              THEN $5 + ($6::timestamptz - $5::timestamptz) * (1 << least(h.silences, 5))
              ELSE ($3::timestamptz[])[least(h.attempts + 1, 3)] END,
          silences = least(h.silences + (h.attempts + 1 >= $4)::int, 32767),
          state = CASE WHEN h.attempts + 1 >= $4 THEN 'failed' ELSE h.state END
   FROM over WHERE h.first = over.first AND h.last = over.last AND h.state = 'resolved'
     AND h.retry_at <= $5
   RETURNING h.id, h.state
)
-- 4: returns the failed hosts, whose URLs are then deleted.
SELECT id FROM tried WHERE state = 'failed'
