-- Queues the front pages of hosts whose next agent may know nothing of them.
INSERT INTO pending_urls (host, url)
SELECT id, scheme || '://' || authority || '/' FROM hosts WHERE id = ANY($1) ON CONFLICT DO NOTHING
