-- Notes those of these hosts ($1) that have pages and were freed without a bundle for their next
-- agents.
INSERT INTO lost_hosts (host, lost_at)
SELECT h.id, $2 FROM hosts h
WHERE h.id = ANY($1) AND h.pages > 0
  AND NOT EXISTS (SELECT FROM host_bundles b WHERE b.host = h.id)
ON CONFLICT (host) DO UPDATE SET lost_at = excluded.lost_at, queued_to = ''
