-- Those of the hosts (scheme and authority) that the agent does not have. A host that it is to
-- release is its own until it has confirmed that, which it does after its last package. A member of
-- a region also has the hosts of other members, which it may have taken over, and hosts without an
-- agent, which it may have found while the coordinator was away: unless their subnet is known and
-- was never delegated to a member.
WITH me AS (SELECT region FROM agents WHERE id = $1)
SELECT n.scheme || '://' || n.authority
FROM unnest($2::text[], $3::text[]) AS n (scheme, authority)
CROSS JOIN me
LEFT JOIN hosts h ON h.scheme = n.scheme AND h.authority = n.authority
LEFT JOIN agents a ON a.id = h.agent
WHERE h.agent IS DISTINCT FROM $1
  AND (me.region IS NULL
       OR (h.agent IS NOT NULL AND a.region IS DISTINCT FROM me.region)
       OR (h.agent IS NULL AND h.first IS NOT NULL AND NOT EXISTS (
             SELECT FROM delegations d JOIN agents m ON m.id = d.agent
             WHERE d.first = h.first AND d.last = h.last AND m.region = me.region)))
