-- The confirmed round trips in each of these subnets as of $5, in order of addresses.
SELECT w.first, w.last, r.address, r.agent, r.rtt_us
FROM unnest($1::inet[], $2::inet[]) AS w (first, last) CROSS JOIN LATERAL (
   SELECT address, agent, rtt_us FROM round_trips
   WHERE address BETWEEN w.first AND w.last AND packages >= $3
     -- An address from which nothing is fetched any more may have been elsewhere.
     AND greatest(reported_at, counted_at) > $5::timestamptz - interval '180 days'
   ORDER BY address, agent LIMIT $4
) AS r ORDER BY r.address, r.agent
