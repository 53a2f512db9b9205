-- The silent hosts with pages, those silent for longest first.
SELECT h.scheme || '://' || h.authority
FROM host_fetches f
-- One look-up for each: without the offset, the planner reads all hosts.
CROSS JOIN LATERAL (SELECT * FROM hosts h WHERE h.id = f.host AND h.pages > 0 OFFSET 0) h
WHERE f.is_silent ORDER BY f.unanswered_since, f.host LIMIT $1
