-- A part of the silent hosts, up to $3 after a place ($1 and $2), those silent for longest first.
-- Of hosts without pages only the place.
SELECT f.unanswered_since, f.host, h.key
FROM (
    SELECT unanswered_since, host FROM host_fetches
    WHERE is_silent AND ($1::timestamptz IS NULL OR (unanswered_since, host) > ($1, $2))
    ORDER BY unanswered_since, host LIMIT $3
) AS f
-- One look-up for each: without the offset, the planner reads all hosts.
LEFT JOIN LATERAL (
    SELECT h.scheme || '://' || h.authority AS key FROM hosts h
    WHERE h.id = f.host AND h.pages > 0 OFFSET 0
) AS h ON true
ORDER BY f.unanswered_since, f.host
