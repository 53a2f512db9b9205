-- 1: release orders of agents whose leases are over ($1: leases that were granted before this have
--    ended), at most $3. The lease that an agent had when the order was made cannot last longer
--    than a lease after its last heartbeat; every later lease came with the order.
WITH due AS (
   SELECT o.id FROM handovers o JOIN agents a ON a.id = o.agent
   WHERE o.ended_at IS NULL AND o.task = 'release'
     AND least(a.last_heartbeat_at, o.asked_at) < $1
   LIMIT $3
), over AS (
   -- 2: ends them. A revoked agent never asks for orders again, so that its orders need not be sent
   --    any more.
   UPDATE handovers o
   SET ended_at = $2,
       ending = CASE a.state WHEN 'revoked' THEN 'revoked' ELSE 'lapsed' END,
       confirmed_at = CASE a.state WHEN 'revoked' THEN $2::timestamptz END
   FROM agents a
   WHERE o.id IN (SELECT id FROM due) AND a.id = o.agent AND o.ended_at IS NULL
   RETURNING o.host
)
-- 3: names the hosts, which the caller sets free.
SELECT host FROM over
