-- The routes that an agent has not confirmed, by rising number.
SELECT seq, url, redirects FROM routes WHERE agent = $1 AND seq > $2 ORDER BY seq LIMIT $3
