-- Locks the agents for which URLs wait, so that none of them is revoked or routed to by somebody
-- else meanwhile. One that another transaction has locked is skipped until the next run: whoever
-- waits here keeps the agents before it locked, and so their heartbeats.
SELECT a.id, a.next_route, (SELECT count(*) FROM routes r WHERE r.agent = a.id)
FROM agents a
WHERE a.state = 'approved' AND EXISTS (SELECT FROM pending_urls p WHERE p.agent = a.id)
ORDER BY a.id FOR NO KEY UPDATE OF a SKIP LOCKED
