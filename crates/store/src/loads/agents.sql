-- All agents that were not revoked, with what they delivered and the fetches from the subnets that
-- they hold, both of the same days: they are compared, and weekends differ. As in subnets.sql,
-- these are the $2 days before today (the day of $1), and today. Both are known since the first one
-- of these days on which there was any, because an agent that has rested would otherwise seem to do
-- less than it holds. Both tables have at most some hundred rows an agent.
-- 1: what they delivered, since ever and in these days.
WITH today AS (
    SELECT ($1 AT TIME ZONE 'UTC')::date AS day
), delivered AS (
    SELECT h.agent, min(h.hour) AS since,
           min(c.day) FILTER (WHERE c.day >= t.day - $2 AND h.fetches > 0) AS first,
           sum(h.fetches) FILTER (WHERE c.day >= t.day - $2 AND c.day < t.day) AS before,
           sum(h.fetches) FILTER (WHERE c.day >= t.day) AS today
    FROM today t, agent_hours h, LATERAL (SELECT (h.hour AT TIME ZONE 'UTC')::date AS day) c
    GROUP BY h.agent
), held AS (
    -- 2: what came from the subnets that they hold now.
    SELECT d.agent, min(d.day) FILTER (WHERE d.fetches > 0) AS first,
           sum(d.fetches) FILTER (WHERE d.day < t.day) AS before,
           sum(d.fetches) FILTER (WHERE d.day >= t.day) AS today
    FROM agent_days d, today t WHERE d.day >= t.day - $2
    GROUP BY d.agent
)
SELECT a.id AS agent, a.name, a.state = 'approved' AS approved,
       a.capacity_pages_per_day AS offered, d.since,
       coalesce(d.before, 0)::bigint AS fetched_before,
       coalesce(d.today, 0)::bigint AS fetched_today,
       greatest(coalesce(t.day - d.first, 0), 0) AS fetched_days,
       coalesce((a.status ->> 'queued')::bigint, 0) AS queued,
       coalesce(h.before, 0)::bigint AS held_before,
       coalesce(h.today, 0)::bigint AS held_today,
       greatest(coalesce(t.day - h.first, 0), 0) AS held_days
FROM today t, agents a
LEFT JOIN delivered d ON d.agent = a.id
LEFT JOIN held h ON h.agent = a.id
WHERE a.state <> 'revoked' ORDER BY a.id
