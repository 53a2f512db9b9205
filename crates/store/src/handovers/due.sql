-- Release orders of agents whose leases are over ($1: leases that were granted before this have
-- ended), at most $2, with their hosts. The lease that an agent had when the order was made cannot
-- last longer than a lease after its last heartbeat; every later lease came with the order.
SELECT o.id, o.host FROM handovers o JOIN agents a ON a.id = o.agent
WHERE o.ended_at IS NULL AND o.task = 'release'
  AND least(a.last_heartbeat_at, o.asked_at) < $1
LIMIT $2
