-- Agents with a number below `before`, the newest first.
SELECT a.id, a.state, a.name, a.contact, a.version, a.capacity_pages_per_day, a.zone, a.spans,
    a.home,
       a.enrolled_at, a.approved_at, a.last_heartbeat_at, a.asleep_until,
           a.status ->> 'idle_reason' AS idle_reason,
       (SELECT count(*) FROM delegations d WHERE d.agent = a.id AND d.ended_at IS NULL)
           AS delegations,
       (SELECT count(*) FROM hosts h WHERE h.agent = a.id) AS hosts,
       p.pages, p.wire_bytes, p.shipped_bytes
FROM agents a
CROSS JOIN LATERAL (
   SELECT coalesce(sum(pages), 0)::bigint AS pages,
          least(coalesce(sum(wire_bytes), 0), 9223372036854775807)::bigint AS wire_bytes,
          coalesce(sum(bytes), 0)::bigint AS shipped_bytes
   FROM packages WHERE agent = a.id) AS p
WHERE a.id < $1 ORDER BY a.id DESC LIMIT $2
