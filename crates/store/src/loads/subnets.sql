-- Pages a day of each subnet that has any: the mean of the last seven days, or of as many as it is
-- known.
SELECT h.first, h.last, sum(d.fetches)::bigint, ($1 AT TIME ZONE 'UTC')::date - min(d.day) + 1
FROM host_days d JOIN hosts h ON h.id = d.host
WHERE h.first IS NOT NULL AND d.day > ($1 AT TIME ZONE 'UTC')::date - $2
GROUP BY h.first, h.last
