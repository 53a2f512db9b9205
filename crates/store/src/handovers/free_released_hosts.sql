-- Hosts that were released wait for their next agent.
UPDATE hosts SET state = 'resolved', agent = NULL WHERE id = ANY($1) AND state = 'moving'
