-- Locks the agents for which URLs wait, so that no other transaction revokes them or routes to them
-- meanwhile. An agent that another transaction has locked is skipped until the next run: to wait
-- here would keep the agents before it locked, and their heartbeats waiting.
SELECT a.id, a.next_route, (SELECT count(*) FROM routes r WHERE r.agent = a.id)
FROM agents a
WHERE a.state = 'approved' AND EXISTS (SELECT FROM pending_urls p WHERE p.agent = a.id)
ORDER BY a.id FOR NO KEY UPDATE OF a SKIP LOCKED
