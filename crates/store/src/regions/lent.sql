-- Regions with a loan at $5 to whose agents one of the subnets ($1 to $2) was last delegated, where
-- $3 names another agent or none. A delegation that has ended counts: the agents may not have heard
-- of its end. Left out are moves within a region: $4 names the agent that has the subnet.
SELECT DISTINCT r.id
FROM unnest($1::inet[], $2::inet[], $3::bigint[], $4::bigint[]) AS s (first, last, agent,
    moved_from)
CROSS JOIN LATERAL (
   SELECT d.agent FROM delegations d WHERE d.first = s.first AND d.last = s.last
   ORDER BY d.fencing_number DESC LIMIT 1
) AS held
JOIN agents a ON a.id = held.agent
JOIN regions r ON r.id = a.region AND r.lent_until > $5
WHERE held.agent IS DISTINCT FROM s.agent AND held.agent IS DISTINCT FROM s.moved_from
