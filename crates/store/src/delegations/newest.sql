-- The newest first; $1 is the number of the last one before the page.
  AND d.id < $1 AND $7::bigint IS NULL
ORDER BY d.id DESC LIMIT $2
