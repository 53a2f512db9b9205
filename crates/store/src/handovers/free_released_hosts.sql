-- Hosts that were released wait for their next agent, whose search is due now ($2).
UPDATE hosts SET state = 'resolved', agent = NULL, retry_at = least(retry_at, $2)
WHERE id = ANY($1) AND state = 'moving'
