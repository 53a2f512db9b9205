-- Queues the routes to hosts that move again, found by the index routes_by_host.
INSERT INTO pending_urls (host, url, redirects)
SELECT h.id, r.url, r.redirects
FROM hosts h
JOIN routes r ON r.agent = h.agent
             AND substring(r.url FROM '^https?://[^/?#]*') = h.scheme || '://' || h.authority
WHERE h.id = ANY($1)
ORDER BY r.seq
ON CONFLICT DO NOTHING
