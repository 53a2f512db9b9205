-- The new delegations in the order of their decisions; fewer where a subnet was delegated
-- meanwhile.
WITH made AS (
   INSERT INTO delegations (first, last, agent, generation, reason, provisional, search, rtt_us,
       decided_at)
   SELECT first, last, agent, generation + 1, reason, provisional, search, rtt_us, $9
   FROM unnest($1::inet[], $2::inet[], $3::bigint[], $4::bigint[], $5::text[], $6::bool[],
       $7::bigint[], $8::int[])
        AS d (first, last, agent, generation, reason, provisional, search, rtt_us)
   ON CONFLICT DO NOTHING RETURNING id, search
)
SELECT made.id FROM made JOIN unnest($7::bigint[]) WITH ORDINALITY AS d (search,
    place) USING (search)
ORDER BY place
