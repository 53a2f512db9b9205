-- All agents that were not revoked, with what they delivered and the fetches from the subnets that
-- they hold, both in the $2 days before today (the day of $1) and today, as in by_subnet.sql. What
-- they delivered is compared with the loads of subnets, of which most are known for all these days:
-- days of rest count, too. The days since the first fetch from what they hold say early that an
-- agent may have too much. Both tables have at most some hundred rows an agent.
-- 1: what they delivered, and since when.
WITH today AS (
    SELECT ($1 AT TIME ZONE 'UTC')::date AS day
), delivered AS (
    SELECT h.agent, min(h.hour) AS since, t.day - min(c.day) AS days,
           sum(h.fetches) FILTER (WHERE c.day >= t.day - $2 AND c.day < t.day) AS before,
           sum(h.fetches) FILTER (WHERE c.day >= t.day) AS today
    FROM today t, agent_hours h, LATERAL (SELECT (h.hour AT TIME ZONE 'UTC')::date AS day) c
    GROUP BY h.agent, t.day
), held AS (
    -- 2: what came from the subnets that they hold now, some of them from other agents.
    SELECT d.agent, t.day - min(d.day) FILTER (WHERE d.fetches > 0) AS days,
           sum(d.fetches) FILTER (WHERE d.day < t.day) AS before,
           sum(d.fetches) FILTER (WHERE d.day >= t.day) AS today
    FROM agent_days d, today t WHERE d.day >= t.day - $2
    GROUP BY d.agent, t.day
)
SELECT a.id AS agent, a.name, a.state = 'approved' AS approved,
       a.capacity_pages_per_day AS offered, d.since,
       coalesce(d.before, 0)::bigint AS fetched_before,
       coalesce(d.today, 0)::bigint AS fetched_today,
       least($2, greatest(d.days, 0)) AS fetched_days,
       coalesce((a.status ->> 'queued')::bigint, 0) AS queued,
       coalesce(h.before, 0)::bigint AS held_before,
       coalesce(h.today, 0)::bigint AS held_today,
       least($2, greatest(d.days, h.days, 0)) AS held_days,
       least($2, greatest(h.days, 0)) AS fetched_from_days
FROM today t, agents a
LEFT JOIN delivered d ON d.agent = a.id
LEFT JOIN held h ON h.agent = a.id
WHERE a.state <> 'revoked' ORDER BY a.id
