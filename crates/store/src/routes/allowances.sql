-- Locks the agents that may get routes, so that none of them is revoked or routed to by somebody
-- else meanwhile.
SELECT a.id, a.next_route, (SELECT count(*) FROM routes r WHERE r.agent = a.id)
FROM agents a
WHERE a.state = 'approved' AND EXISTS (
   SELECT FROM hosts h JOIN pending_urls p ON p.host = h.id WHERE h.agent = a.id
       AND h.state = 'delegated')
ORDER BY a.id FOR UPDATE OF a
