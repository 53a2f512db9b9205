-- Count the agents.
SELECT count(*) FILTER (WHERE state = 'pending') AS pending,
       count(*) FILTER (WHERE state = 'approved') AS approved,
       count(*) FILTER (WHERE state = 'paused') AS paused,
       count(*) FILTER (WHERE state = 'revoked') AS revoked,
       count(*) FILTER (WHERE works AND NOT asleep_now AND reachable) AS awake,
       count(*) FILTER (WHERE works AND asleep_now) AS asleep,
       count(*) FILTER (WHERE works AND NOT asleep_now AND NOT reachable) AS unreachable
FROM (SELECT state, state = 'approved' AS works, coalesce(asleep_until > $2, false) AS asleep_now,
             coalesce(last_heartbeat_at >= $1, false) AS reachable FROM agents) AS a
