-- The hosts that lost their agents first, at most $2, of those whose next agents have at most $1
-- URLs waiting: one that sleeps for long must not keep the hosts of others.
-- 1: the agents that have more. To find out, up to $1 entries of the index are read for each.
WITH busy AS MATERIALIZED (
   SELECT a.id FROM agents a
   WHERE EXISTS (SELECT FROM pending_urls p WHERE p.agent = a.id ORDER BY p.id OFFSET $1)
)
-- 2: goes along the index, with one look-up for each host.
SELECT h.id, h.key, l.queued_to
FROM (SELECT host, lost_at, queued_to FROM lost_hosts ORDER BY lost_at, host) AS l
CROSS JOIN LATERAL (
   SELECT id, scheme || '://' || authority AS key FROM hosts
   WHERE id = l.host AND state = 'delegated' AND NOT agent = ANY(ARRAY(SELECT id FROM busy))
   OFFSET 0
) AS h
LIMIT $2
