-- The partitions of $1 whose day is at least $3 days before that of $2. The name has the day.
SELECT c.relname::text
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = to_regclass(quote_ident($1))
  AND c.relname ~ ('^' || $1 || '_[0-9]{8}$')
  AND to_date(right(c.relname, 8), 'YYYYMMDD') <= ($2 AT TIME ZONE 'UTC')::date - $3
ORDER BY c.relname
