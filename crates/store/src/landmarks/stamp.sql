-- What changes when there may be new reports on landmarks, or other landmarks or agents.
SELECT l.landmarks, l.last_landmark, a.agents,
       coalesce((SELECT (extract(epoch FROM max(measured_at)) * 1000000)::bigint
                 FROM landmark_times), 0) AS newest_us
FROM (SELECT count(*) AS landmarks, coalesce(max(id), 0) AS last_landmark
      FROM landmarks WHERE state = 'live') AS l,
     (SELECT coalesce(sum(hashtextextended(home::text, id)::numeric) % 1000000007, 0)::bigint
          AS agents
      FROM agents WHERE state IN ('approved', 'paused')
        AND NOT EXISTS (SELECT FROM agent_trust r
                        WHERE r.agent = agents.id AND r.paused_at IS NOT NULL)) AS a
