-- The next `limit` hosts after `after` that wait for an agent, each with its subnet, in order of
-- their number.
SELECT id, first, last FROM hosts
WHERE state = 'resolved' AND id > $1 AND first IS NOT NULL AND retry_at <= $3 ORDER BY id LIMIT $2
