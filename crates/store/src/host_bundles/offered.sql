-- Bundles of hosts that this agent ($1) has by now, the oldest first. One whose order has lapsed
-- waits until the former agent has confirmed the order, unless it came before $3.
SELECT b.handover, h.scheme, h.authority,
   -- The times of pages contain the round trip. They count for the next agent where its round trip
   -- differs by at most 5 ms or a tenth; where one of the two is not known, they do not.
   coalesce(abs(former.rtt_us - now.rtt_us) <= greatest(5000, former.rtt_us / 10), false),
   -- What an agent reports about a host after the order has lapsed is not ingested. Whether there
   -- was anything is known once the agent has confirmed the order.
   coalesce(o.ending = 'lapsed' AND (o.lost_results OR o.confirmed_at IS NULL), false)
FROM host_bundles b
LEFT JOIN handovers o ON o.id = b.handover
JOIN hosts h ON h.id = b.host AND h.agent = $1 AND h.state = 'delegated'
LEFT JOIN delegations now
   ON now.first = h.first AND now.last = h.last AND now.ended_at IS NULL AND now.agent = $1
LEFT JOIN LATERAL (
   SELECT d.rtt_us FROM delegations d
   WHERE d.first = h.first AND d.last = h.last AND d.agent = b.agent AND d.ended_at IS NOT NULL
   ORDER BY d.fencing_number DESC LIMIT 1
) former ON true
WHERE o.ending IS DISTINCT FROM 'lapsed' OR o.confirmed_at IS NOT NULL OR b.received_at < $3
ORDER BY b.handover LIMIT $2
