-- One waiting host each of these subnets, in their order: one that failed least.
SELECT s.first, s.last, best.address, best.scheme, best.authority
FROM unnest($1::inet[], $2::inet[]) WITH ORDINALITY AS s (first, last, place) CROSS JOIN LATERAL (
   SELECT h.address, h.scheme, h.authority
   FROM hosts h LEFT JOIN silent_addresses a ON a.address = h.address AND a.since > $4
   WHERE h.first = s.first AND h.last = s.last AND h.state = 'resolved' AND h.retry_at <= $3
   ORDER BY a.since IS NOT NULL, h.attempts, h.id LIMIT 1
) AS best ORDER BY s.place
