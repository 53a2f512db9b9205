-- Agents with their counts, the newest first; one agent where $1 names it.
-- 1: the counts, with the changes that are not added yet. Sums of what agents report may be too
--    large.
WITH kept AS (
   SELECT agent, sum(delegations)::bigint AS delegations, sum(hosts)::bigint AS hosts,
          sum(pages)::bigint AS pages,
          least(sum(wire_bytes), 9223372036854775807)::bigint AS wire_bytes,
          least(sum(shipped_bytes), 9223372036854775807)::bigint AS shipped_bytes
   FROM (SELECT * FROM agent_counts UNION ALL SELECT * FROM agent_count_changes) AS c
   WHERE $1::bigint IS NULL OR agent = $1
   GROUP BY agent
)
-- 2: the agents.
SELECT a.id, a.state, a.name, a.contact, a.version, a.capacity_pages_per_day, a.zone, a.spans,
       a.home, a.source, a.source_since, a.place, a.public_key, a.leaving_at, a.left_at,
       a.enrolled_at, a.approved_at, a.last_heartbeat_at, a.asleep_until,
       a.status ->> 'idle_reason' AS idle_reason,
       (a.status ->> 'clock_off_ms')::bigint AS clock_off_ms,
       coalesce(k.delegations, 0) AS delegations, coalesce(k.hosts, 0) AS hosts,
       coalesce(k.pages, 0) AS pages, coalesce(k.wire_bytes, 0) AS wire_bytes,
       coalesce(k.shipped_bytes, 0) AS shipped_bytes,
       (SELECT t.name FROM join_tokens t WHERE t.used_by = a.id ORDER BY t.id DESC LIMIT 1)
           AS join_token,
       (SELECT r.ordered_at FROM page_removals r WHERE r.agent = a.id) AS pages_removed_at
FROM agents a LEFT JOIN kept k ON k.agent = a.id
WHERE $1::bigint IS NULL OR a.id = $1
ORDER BY a.id DESC
