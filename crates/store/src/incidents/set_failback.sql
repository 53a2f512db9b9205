-- The former agent looked, and the way is not as before yet.
UPDATE incidents SET failback = $3, probe = NULL, changed_at = $4 WHERE id = $1 AND state = $2
