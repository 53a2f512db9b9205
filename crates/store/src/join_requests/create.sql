-- Enters a request to host an agent, unless its network, its IPv6 site (a /48) or the queue has
-- no room for it.
-- 1: forgets old requests; an agent that joined needs its request no more.
WITH forgotten AS (
   DELETE FROM join_requests WHERE created_at < $9
), counts AS (
   -- 2: counts what limits are about.
   SELECT (SELECT count(*) FROM join_requests WHERE network = $7 AND created_at >= $10) >= $11
          OR family($7::inet) = 6 AND (
              SELECT count(*) FROM join_requests
              WHERE family(network) = 6 AND network <<= set_masklen($7::inet, 48)
                    AND created_at >= $10
          ) >= $13 AS is_network_full,
          (SELECT count(*) FROM join_requests WHERE state = 'waiting') >= $12 AS is_queue_full
), entered AS (
   INSERT INTO join_requests (name, contact, place, zone, spans, message, network, created_at)
   SELECT $1, $2, $3, $4, $5, $6, $7, $8 FROM counts
   WHERE NOT is_network_full AND NOT is_queue_full
   RETURNING id
)
-- 3: the request, or which limit refused it.
SELECT (SELECT id FROM entered), is_network_full FROM counts
