-- Pages a day of each subnet that has any: the mean of the last $2 days, or of as many as it is
-- known.
SELECT first, last, sum(fetches)::bigint, ($1 AT TIME ZONE 'UTC')::date - min(day) + 1
FROM subnet_days WHERE day > ($1 AT TIME ZONE 'UTC')::date - $2
GROUP BY first, last
