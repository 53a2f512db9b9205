-- Those of the hosts (scheme and authority) that the agent does not have. A host that it is to
-- release is its own until it has confirmed that, which it does after its last package.
SELECT n.scheme || '://' || n.authority
FROM unnest($2::text[], $3::text[]) AS n (scheme, authority)
WHERE NOT EXISTS (SELECT FROM hosts h
                  WHERE h.scheme = n.scheme AND h.authority = n.authority AND h.agent = $1)
