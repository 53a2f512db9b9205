-- The confirmed round trips in a subnet ($1 to $2) as of $6 next to an address ($3), at most $5 up
-- to it and $5 beyond, in order of addresses. An address from which nothing is fetched any more may
-- have been elsewhere.
SELECT address, agent, rtt_us FROM (
   -- 1: goes down along the index from the address.
   (SELECT address, agent, rtt_us FROM round_trips
    WHERE address BETWEEN $1 AND $3 AND packages >= $4
      AND greatest(reported_at, counted_at) > $6::timestamptz - interval '180 days'
    ORDER BY address DESC, agent DESC LIMIT $5)
   UNION ALL
   -- 2: goes up.
   (SELECT address, agent, rtt_us FROM round_trips
    WHERE address > $3 AND address <= $2 AND packages >= $4
      AND greatest(reported_at, counted_at) > $6::timestamptz - interval '180 days'
    ORDER BY address, agent LIMIT $5)
) AS near ORDER BY address, agent
