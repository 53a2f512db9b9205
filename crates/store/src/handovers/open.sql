-- What an agent shall do with hosts it has, oldest first; also after its lease ended and others
-- have them.
SELECT o.id, h.scheme, h.authority, o.task FROM handovers o JOIN hosts h ON h.id = o.host
WHERE o.agent = $1 AND o.confirmed_at IS NULL ORDER BY o.id LIMIT $2
