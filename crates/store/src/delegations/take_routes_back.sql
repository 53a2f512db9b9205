-- Takes back the routes to hosts that move.
DELETE FROM routes r USING hosts h
WHERE h.scheme = substring(r.url FROM '^(https?)://')
  AND h.authority = substring(r.url FROM '^https?://([^/?#]*)')
  AND h.id = ANY($1) AND r.agent = h.agent AND $2::bigint[] IS NOT NULL
      AND $3::timestamptz IS NOT NULL
