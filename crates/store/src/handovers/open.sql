-- Unconfirmed orders about the hosts of an agent without those that it has accepted ($4), oldest
-- first, also after its lease ended and other agents have the hosts. A released host leaves as a
-- bundle if whoever is next can take it: if no working agent speaks an older protocol than $3.
SELECT o.id, h.scheme, h.authority, o.task,
   o.task = 'release' AND NOT EXISTS (
      SELECT FROM agents a WHERE a.state IN ('approved', 'paused') AND a.protocol < $3
   )
FROM handovers o JOIN hosts h ON h.id = o.host
WHERE o.agent = $1 AND o.confirmed_at IS NULL
  AND NOT EXISTS (SELECT FROM unnest($4::bigint[]) AS accepted (id) WHERE accepted.id = o.id)
ORDER BY o.id LIMIT $2
