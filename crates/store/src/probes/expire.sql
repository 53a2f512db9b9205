-- Ends the patience with orders made until `asked_before`, and with those of agents not heard of
-- since `heartbeat_cutoff`.
UPDATE probes p SET state = 'expired', answered_at = $3,
       reason = CASE WHEN a.last_heartbeat_at < $2 THEN 'the agent was not heard of'
           ELSE 'no answer in time' END
FROM agents a
WHERE p.agent = a.id AND p.state = 'asked' AND (p.asked_at <= $1 OR a.last_heartbeat_at < $2)
