-- Fetches of those of the subnets ($3, $4) that have any, as in subnets.sql.
WITH today AS (
    SELECT ($1 AT TIME ZONE 'UTC')::date AS day
), fetched AS (
    SELECT d.first, d.last, min(d.day) AS since,
           coalesce(sum(d.fetches) FILTER (WHERE d.day < t.day), 0)::bigint AS before,
           coalesce(sum(d.fetches) FILTER (WHERE d.day >= t.day), 0)::bigint AS today
    FROM unnest($3::inet[], $4::inet[]) AS w (first, last)
    JOIN subnet_days d ON d.first = w.first AND d.last = w.last
    JOIN today t ON d.day >= t.day - $2
    GROUP BY d.first, d.last
)
SELECT f.first, f.last, f.before, f.today,
       least($2, t.day - least(f.since, (g.known_since AT TIME ZONE 'UTC')::date))
FROM today t, fetched f LEFT JOIN delegations g
  ON g.first = f.first AND g.last = f.last AND g.ended_at IS NULL
