-- At most $2 URLs that can be routed to these agents ($1), at most $3 of each, oldest first. Hosts
-- that another transaction is changing are skipped until the next run.
SELECT p.id, h.agent, p.url, p.redirects
FROM unnest($1::bigint[]) AS a (id)
CROSS JOIN LATERAL (
   SELECT id, host, url, redirects FROM pending_urls
   WHERE agent = a.id ORDER BY id LIMIT $3) AS p
JOIN hosts h ON h.id = p.host AND h.state = 'delegated' AND h.agent = a.id
ORDER BY p.id LIMIT $2 FOR SHARE OF h SKIP LOCKED
