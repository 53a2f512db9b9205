-- The hosts of an agent wait for another agent.
UPDATE hosts SET state = 'resolved', agent = NULL WHERE agent = $1 AND $2::timestamptz IS NOT NULL
