-- Count the agents.
SELECT count(*) FILTER (WHERE state = 'pending') AS pending,
       count(*) FILTER (WHERE state = 'approved') AS approved,
       count(*) FILTER (WHERE state = 'paused') AS paused,
       count(*) FILTER (WHERE state = 'revoked') AS revoked,
       count(*) FILTER (WHERE works AND NOT sleeps AND heard) AS awake,
       count(*) FILTER (WHERE works AND sleeps) AS asleep,
       count(*) FILTER (WHERE works AND NOT sleeps AND NOT heard) AS unreachable
FROM (SELECT state, state = 'approved' AS works, coalesce(asleep_until > $2, false) AS sleeps,
             coalesce(last_heartbeat_at >= $1, false) AS heard FROM agents) AS a
