-- 1: inserts the delegations that searches decided; none for a subnet that was delegated meanwhile.
WITH made AS (
   INSERT INTO delegations (first, last, agent, fencing_number, reason, provisional, search, rtt_us,
       decided_at, generation)
   SELECT first, last, agent, fencing_number + 1, reason, provisional, search, rtt_us, $9,
          (SELECT id FROM generations WHERE state = 'live')
   FROM unnest($1::inet[], $2::inet[], $3::bigint[], $4::bigint[], $5::text[], $6::bool[],
       $7::bigint[], $8::int[])
        AS d (first, last, agent, fencing_number, reason, provisional, search, rtt_us)
   ON CONFLICT DO NOTHING RETURNING id, search
)
-- 2: returns their ids in the order of the decisions, which RETURNING does not promise.
SELECT made.id FROM made JOIN unnest($7::bigint[]) WITH ORDINALITY AS d (search,
    place) USING (search)
ORDER BY place
