-- Number of known hosts of these subnets ($1 to $2), in their order.
SELECT (SELECT count(*) FROM hosts h WHERE h.first = s.first AND h.last = s.last)
FROM unnest($1::inet[], $2::inet[]) WITH ORDINALITY AS s (first, last, place)
ORDER BY s.place
