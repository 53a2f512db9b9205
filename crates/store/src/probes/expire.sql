-- Expires orders made until $1, and those of agents whose last heartbeat was before $2.
UPDATE probes p SET state = 'expired', answered_at = $3,
       reason = CASE WHEN a.last_heartbeat_at < $2 THEN 'the agent was not heard of'
           ELSE 'no answer in time' END
FROM agents a
WHERE p.agent = a.id AND p.state = 'asked' AND (p.asked_at <= $1 OR a.last_heartbeat_at < $2)
