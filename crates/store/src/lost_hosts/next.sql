-- The hosts that lost their agents first, at most $2, of those whose next agents have at most $1
-- URLs waiting: one that sleeps for long must not keep the hosts of others.
-- 1: the agents that have such hosts and no more URLs. To find out, up to $1 entries of the index
--    are read for each.
WITH ready AS MATERIALIZED (
   SELECT a.id FROM agents a
   WHERE EXISTS (SELECT FROM lost_hosts l WHERE l.agent = a.id)
     AND NOT EXISTS (SELECT FROM pending_urls p WHERE p.agent = a.id ORDER BY p.id OFFSET $1)
)
-- 2: goes along the index of each, so that hosts that have no agent are not read.
SELECT h.id, h.scheme || '://' || h.authority, l.queued_to
FROM ready r
CROSS JOIN LATERAL (
   SELECT host, lost_at, queued_to FROM lost_hosts
   WHERE agent = r.id ORDER BY lost_at, host LIMIT $2
) AS l
JOIN hosts h ON h.id = l.host
ORDER BY l.lost_at, l.host LIMIT $2
