-- Who has the subnets that hosts are put into, where anybody has.
SELECT first, last, agent FROM delegations
WHERE ended_at IS NULL AND (first, last) IN (SELECT * FROM unnest($1::inet[], $2::inet[]))
    ORDER BY id
