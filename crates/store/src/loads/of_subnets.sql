-- Pages a day of those of these subnets that have any, as in subnets.sql.
SELECT d.first, d.last, sum(d.fetches)::bigint, ($1 AT TIME ZONE 'UTC')::date - min(d.day) + 1
FROM unnest($3::inet[], $4::inet[]) AS w (first, last)
JOIN subnet_days d ON d.first = w.first AND d.last = w.last
WHERE d.day > ($1 AT TIME ZONE 'UTC')::date - $2
GROUP BY d.first, d.last
