-- Locks the delegations of the subnets of these hosts ($1) until the end of the transaction: nobody
-- can end one while its hosts are given to its agent.
SELECT d.id FROM delegations d
WHERE d.ended_at IS NULL
  AND (d.first, d.last) IN (SELECT h.first, h.last FROM hosts h WHERE h.id = ANY($1))
ORDER BY d.id FOR SHARE
