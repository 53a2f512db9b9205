-- Notes that results about these hosts ($2) came from an agent ($1) after its order to release them
-- had lapsed.
UPDATE handovers o SET lost_results = true
FROM unnest($2::text[]) AS n (host)
JOIN hosts h
   ON h.scheme = split_part(n.host, '://', 1) AND h.authority = split_part(n.host, '://', 2)
WHERE o.host = h.id AND o.agent = $1 AND o.ending = 'lapsed' AND o.confirmed_at IS NULL
