-- Unconfirmed orders about the hosts of an agent, oldest first, also after its lease ended and
-- other agents have the hosts.
SELECT o.id, h.scheme, h.authority, o.task FROM handovers o JOIN hosts h ON h.id = o.host
WHERE o.agent = $1 AND o.confirmed_at IS NULL ORDER BY o.id LIMIT $2
