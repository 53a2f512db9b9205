-- Stores a heartbeat.
-- 1: compares it with the last one ($6: the oldest heartbeat of a reachable agent). An agent cannot
--    have stored routes that were never made: such a heartbeat changes nothing.
WITH before AS (
   SELECT id, state, next_route - 1 AS last_route, $5 < next_route AS is_possible,
          peer_addresses IS NOT NULL AND NOT $9 AS leaves_region,
          coalesce(last_heartbeat_at < $6, true)
              OR asleep_until IS DISTINCT FROM $3 OR takes_probes <> $8 AS presence_changed,
          -- Where the heartbeats come from ($10), if that is not its home. Of IPv6, machines change
          -- the last 64 bits by themselves, in another network too. The other protocol says
          -- nothing: many use both.
          CASE WHEN family(home) <> family($10) THEN source
               WHEN NOT network(set_masklen(home, least(masklen(home), 64))) >>= $10 THEN $10
          END AS source
   -- Locked before its routes, as in a revocation.
   FROM agents WHERE id = $1 FOR NO KEY UPDATE
), confirmed AS (
   -- 2: deletes the routes that the agent has stored.
   DELETE FROM routes r USING before
   WHERE before.is_possible AND r.agent = before.id AND r.seq <= $5 RETURNING r.seq
), stored AS (
   -- 3: replaces the presence, the status and the place ($7) of the agent. Its owner may want no
   --    region any more ($9): then it leaves the next roster.
   UPDATE agents a SET last_heartbeat_at = $2, asleep_until = $3, status = $4,
       takes_probes = $8, peer_addresses = CASE WHEN $9 THEN a.peer_addresses END,
       place = $7,
       source = before.source,
       source_since = CASE WHEN before.source IS NULL THEN NULL
                           WHEN before.source <<= network(
                               set_masklen(a.source, least(masklen(a.source), 64)))
                           THEN a.source_since ELSE $2 END,
       source_until = CASE WHEN before.source IS NULL THEN NULL
                           WHEN before.source = $10 THEN $2 ELSE a.source_until END
   FROM before WHERE before.is_possible AND a.id = before.id
), fronts AS (
   -- 4: an agent that leaves its region has handed all hosts back, and keeps nothing of its own. Of
   --    their URLs the limits of the day may leave none, so that the front pages are queued.
   INSERT INTO pending_urls (host, url)
   SELECT h.id, h.scheme || '://' || h.authority || '/'
   FROM before JOIN hosts h ON h.agent = before.id AND h.state = 'delegated'
   WHERE before.is_possible AND before.leaves_region
   ON CONFLICT DO NOTHING
)
-- 5: returns the state of the agent, and what the heartbeat changed.
SELECT state, last_route, is_possible AND presence_changed, (SELECT count(*) FROM confirmed)
FROM before
