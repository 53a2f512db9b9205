-- Notes those of these hosts ($1) that have pages and were freed without a bundle for their next
-- agents. Later changes of their agents come by a trigger.
INSERT INTO lost_hosts (host, lost_at, agent)
SELECT h.id, $2, CASE WHEN h.state = 'delegated' THEN h.agent END FROM hosts h
WHERE h.id = ANY($1) AND h.pages > 0
  AND NOT EXISTS (SELECT FROM host_bundles b WHERE b.host = h.id)
ON CONFLICT (host) DO UPDATE SET lost_at = excluded.lost_at, queued_to = '',
    agent = excluded.agent
