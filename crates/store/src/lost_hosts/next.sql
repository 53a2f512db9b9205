-- The host that lost its agent first, of those whose next agents have at most $1 URLs waiting: one
-- that sleeps for long must not keep the hosts of others.
WITH free AS (
   SELECT w.agent FROM (
      SELECT DISTINCT h.agent FROM lost_hosts l JOIN hosts h ON h.id = l.host
      WHERE h.state = 'delegated'
   ) AS w
   WHERE (SELECT count(*) FROM (
      SELECT FROM pending_urls p WHERE p.agent = w.agent LIMIT $1 + 1) AS p) <= $1
)
SELECT h.id, h.scheme || '://' || h.authority, l.queued_to
FROM lost_hosts l JOIN hosts h ON h.id = l.host AND h.state = 'delegated'
WHERE h.agent IN (SELECT agent FROM free)
ORDER BY l.lost_at, l.host LIMIT 1
