-- All agents that were not revoked, with what they delivered since $2 and the fetches from the
-- subnets that they hold, of the $3 days until $1. Both tables have some dozen rows an agent.
SELECT a.id AS agent, a.name, a.state = 'approved' AS approved,
       a.capacity_pages_per_day AS offered,
       coalesce(h.fetched, 0)::bigint AS fetched, h.since,
       coalesce((a.status ->> 'queued')::bigint, 0) AS queued,
       greatest(coalesce(d.fetches, 0), 0)::bigint AS held_fetches,
       coalesce(($1 AT TIME ZONE 'UTC')::date - d.since + 1, 1) AS held_days
FROM agents a
LEFT JOIN (SELECT agent, sum(fetches) FILTER (WHERE hour > $2) AS fetched, min(hour) AS since
           FROM agent_hours GROUP BY agent) h ON h.agent = a.id
LEFT JOIN (SELECT agent, sum(fetches) AS fetches, min(day) FILTER (WHERE fetches > 0) AS since
           FROM agent_days WHERE day > ($1 AT TIME ZONE 'UTC')::date - $3
           GROUP BY agent) d ON d.agent = a.id
WHERE a.state <> 'revoked' ORDER BY a.id
