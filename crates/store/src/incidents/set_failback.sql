-- Stores what is known of the path of the former agent.
UPDATE incidents SET failback = $3, probe = NULL, changed_at = $4 WHERE id = $1 AND state = $2
