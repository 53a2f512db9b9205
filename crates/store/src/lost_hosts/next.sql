-- The host that lost its agent first, of those that have an agent again, while at most $1 URLs
-- wait.
SELECT h.id, h.scheme || '://' || h.authority, l.queued_to
FROM lost_hosts l JOIN hosts h ON h.id = l.host AND h.state = 'delegated'
WHERE (SELECT count(*) FROM (SELECT FROM pending_urls LIMIT $1 + 1) AS waiting) <= $1
ORDER BY l.lost_at, l.host LIMIT 1
