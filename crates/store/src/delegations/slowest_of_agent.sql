-- As slowest.sql, for a filter that names an agent. The sum keeps the planner from walking the
-- index of all round trips, on which the delegations of one agent lie far apart.
  AND d.rtt_us IS NOT NULL AND ($7::bigint IS NULL OR (d.rtt_us, d.id) < ($7, $1))
ORDER BY d.rtt_us + 0 DESC, d.id DESC LIMIT $2
