-- Latest and present delegation of these subnets, in their order. A present delegation is the
-- latest; earlier ones are read only where there is none.
SELECT s.first, s.last, coalesce(d.fencing_number, e.fencing_number, 0) AS fencing_number,
       coalesce(d.agent, e.agent) AS latest_agent,
       -- As in targets.sql of searches.
       EXISTS (SELECT FROM hosts h
               WHERE h.first = s.first AND h.last = s.last AND h.address IS NOT NULL
                 AND h.state IN ('resolved', 'delegated', 'moving')) AS has_target,
       d.id, d.agent, d.reason,
       d.rtt_us, d.provisional
FROM unnest($1::inet[], $2::inet[]) WITH ORDINALITY AS s (first, last, place)
LEFT JOIN delegations d ON d.first = s.first AND d.last = s.last AND d.ended_at IS NULL
LEFT JOIN LATERAL (
   SELECT g.fencing_number, g.agent FROM delegations g
   WHERE d.id IS NULL AND g.first = s.first AND g.last = s.last
   ORDER BY g.fencing_number DESC LIMIT 1
) AS e ON true
ORDER BY s.place
