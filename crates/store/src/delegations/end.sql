-- End delegations.
UPDATE delegations o SET ended_at = $4
FROM unnest($1::inet[], $2::inet[], $3::bigint[]) AS d (first, last, generation)
WHERE o.first = d.first AND o.last = d.last AND o.generation = d.generation AND o.ended_at IS NULL
