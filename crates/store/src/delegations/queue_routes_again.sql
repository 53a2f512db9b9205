-- Queues the routes to hosts that move again.
INSERT INTO pending_urls (host, url, redirects)
SELECT h.id, r.url, r.redirects
FROM routes r
JOIN hosts h ON h.scheme = substring(r.url FROM '^(https?)://')
            AND h.authority = substring(r.url FROM '^https?://([^/?#]*)')
WHERE h.id = ANY($1) AND r.agent = h.agent AND $2::bigint[] IS NOT NULL
    AND $3::timestamptz IS NOT NULL
ORDER BY r.seq
ON CONFLICT DO NOTHING
