-- Writes down lookups that failed, and returns the hosts that are given up.
WITH noted AS (
   UPDATE hosts h SET attempts = h.attempts + f.counts::int, reason = f.reason,
          retry_at = f.retry_at, state = CASE WHEN f.give_up THEN 'failed' ELSE h.state END
   FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::bool[], $5::bool[])
        AS f (id, reason, retry_at, counts, give_up)
   -- Another coordinator may have found the address meanwhile.
   WHERE h.id = f.id AND h.state = 'unresolved'
   RETURNING h.id, h.state
)
SELECT id FROM noted WHERE state = 'failed'
