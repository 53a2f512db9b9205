-- The agents that have the subnets into which hosts are put, if any have.
SELECT first, last, agent FROM delegations
WHERE ended_at IS NULL AND (first, last) IN (SELECT * FROM unnest($1::inet[], $2::inet[]))
    ORDER BY id
