-- The hosts wait for an agent, with their front pages in case the agent could hand nothing back.
INSERT INTO pending_urls (host, url)
SELECT id, scheme || '://' || authority || '/' FROM hosts WHERE id = ANY($1) ON CONFLICT DO NOTHING
