-- All agents that were not revoked, with what they delivered and the fetches from the subnets that
-- they hold, both of the $2 days until $1: they are compared, and weekends differ. Both are divided
-- by the days since the first one in that time on which there was any, because an agent that has
-- rested would otherwise seem to do less than it holds. Both tables have at most some hundred rows
-- an agent.
SELECT a.id AS agent, a.name, a.state = 'approved' AS approved,
       a.capacity_pages_per_day AS offered,
       coalesce(h.fetches, 0)::bigint AS fetches, h.since,
       ($1 AT TIME ZONE 'UTC')::date - (h.first AT TIME ZONE 'UTC')::date + 1 AS days,
       coalesce((a.status ->> 'queued')::bigint, 0) AS queued,
       greatest(coalesce(d.fetches, 0), 0)::bigint AS held_fetches,
       coalesce(($1 AT TIME ZONE 'UTC')::date - d.since + 1, 1) AS held_days
FROM agents a
LEFT JOIN (SELECT agent, min(hour) AS since,
                  min(hour) FILTER (WHERE is_counted AND fetches > 0) AS first,
                  sum(fetches) FILTER (WHERE is_counted) AS fetches
           FROM agent_hours, LATERAL (SELECT (hour AT TIME ZONE 'UTC')::date
                                             > ($1 AT TIME ZONE 'UTC')::date - $2 AS is_counted) c
           GROUP BY agent) h ON h.agent = a.id
LEFT JOIN (SELECT agent, sum(fetches) AS fetches, min(day) FILTER (WHERE fetches > 0) AS since
           FROM agent_days WHERE day > ($1 AT TIME ZONE 'UTC')::date - $2
           GROUP BY agent) d ON d.agent = a.id
WHERE a.state <> 'revoked' ORDER BY a.id
