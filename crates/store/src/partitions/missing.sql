-- The partitions of $1 for the days from that of $2 to $3 days later, as far as there are none.
-- Those of the later days can wait for another run.
SELECT partition, day::text, (day + 1)::text, day > ($2 AT TIME ZONE 'UTC')::date + 1
FROM (SELECT d::date AS day, $1 || to_char(d, '_YYYYMMDD') AS partition
      FROM generate_series(($2 AT TIME ZONE 'UTC')::date, ($2 AT TIME ZONE 'UTC')::date + $3,
                           interval '1 day') AS d) AS wanted
WHERE to_regclass(quote_ident(partition)) IS NULL
ORDER BY day
