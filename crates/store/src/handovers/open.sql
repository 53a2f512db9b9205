-- Unconfirmed orders about the hosts of an agent without those that it has accepted ($3), oldest
-- first, also after its lease ended and other agents have the hosts.
SELECT o.id, h.scheme, h.authority, o.task
FROM handovers o JOIN hosts h ON h.id = o.host
WHERE o.agent = $1 AND o.confirmed_at IS NULL
  AND NOT EXISTS (SELECT FROM unnest($3::bigint[]) AS accepted (id) WHERE accepted.id = o.id)
ORDER BY o.id LIMIT $2
