
-- Goes on after the days of some or all subnets. Fetches of each that has any in the $2 days before
-- today (the day of $1) or today: those before today, those of today, and for how many of the days
-- before today the subnet is known.
-- 1: sums and the day of the first fetch.
, today AS (
    SELECT ($1 AT TIME ZONE 'UTC')::date AS day
), fetched AS (
    SELECT d.first, d.last, min(d.day) AS since,
           coalesce(sum(d.fetches) FILTER (WHERE d.day < t.day), 0)::bigint AS before,
           coalesce(sum(d.fetches) FILTER (WHERE d.day >= t.day), 0)::bigint AS today
    FROM days d, today t WHERE d.day >= t.day - $2
    GROUP BY d.first, d.last
)
-- 2: many subnets are visited once a week, so that a subnet is known since its first delegation
--    where that was before the first fetch.
SELECT f.first, f.last, f.before, f.today,
       least($2, t.day - least(f.since, (g.known_since AT TIME ZONE 'UTC')::date))
FROM today t, fetched f LEFT JOIN delegations g
  ON g.first = f.first AND g.last = f.last AND g.ended_at IS NULL
