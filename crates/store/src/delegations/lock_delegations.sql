-- Locks the delegations of the subnets of these hosts ($1) until the end of the transaction, so
-- that none can end while its hosts are given to its agent. 1: finds them, one by one: Postgres
-- would answer a join by reading every delegation.
WITH held AS (
   SELECT (SELECT d.id FROM delegations d
           WHERE d.first = s.first AND d.last = s.last AND d.ended_at IS NULL) AS id
   FROM (SELECT DISTINCT h.first, h.last FROM hosts h WHERE h.id = ANY($1)) AS s
)
-- 2: locks them in the order in which all do.
SELECT d.id FROM delegations d
WHERE d.id = ANY(ARRAY(SELECT id FROM held)) AND d.ended_at IS NULL
ORDER BY d.id FOR SHARE
