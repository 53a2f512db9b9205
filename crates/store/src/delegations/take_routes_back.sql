-- Takes back the routes to hosts that move, found by the index routes_by_host.
DELETE FROM routes r USING hosts h
WHERE r.agent = h.agent
  AND substring(r.url FROM '^https?://[^/?#]*') = h.scheme || '://' || h.authority
  AND h.id = ANY($1)
