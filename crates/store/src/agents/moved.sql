-- Agents all of whose heartbeats came from one address that is not their home, for $1 seconds.
-- An address that another agent has, as its home or as its source, is rather one of a proxy.
SELECT a.id, a.home, a.source,
       EXISTS (SELECT FROM agents o
               WHERE o.id <> a.id AND o.state <> 'revoked' AND o.home = a.home) AS is_shared
FROM agents a
WHERE a.state <> 'revoked' AND a.source IS NOT NULL
  AND a.source_until - a.source_since >= make_interval(secs => $1)
  AND NOT EXISTS (SELECT FROM agents o
                  WHERE o.id <> a.id AND o.state <> 'revoked' AND a.source IN (o.home, o.source))
ORDER BY a.id
