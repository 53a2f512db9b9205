-- Ends the probe orders of an agent.
UPDATE probes SET state = 'expired', answered_at = $2, reason = 'the agent was revoked'
WHERE agent = $1 AND state = 'asked'
