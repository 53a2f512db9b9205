-- Incidents with a number below `before`, the newest first.
WHERE c.id < $1 ORDER BY c.id DESC LIMIT $2
