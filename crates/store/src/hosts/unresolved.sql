-- Hosts whose address may be looked up now, fair between the sources that reported them.
-- Sources with waiting hosts, each found by one step in the index.
WITH RECURSIVE sources AS (
    (SELECT found_by FROM hosts WHERE state = 'unresolved' ORDER BY found_by LIMIT 1)
    UNION ALL
    SELECT (SELECT h.found_by FROM hosts h
            WHERE h.state = 'unresolved' AND h.found_by > s.found_by
            ORDER BY h.found_by LIMIT 1)
    FROM sources s WHERE s.found_by IS NOT NULL
)
SELECT w.id, w.authority, w.attempts
FROM sources s
CROSS JOIN LATERAL (
    -- First lookups: the oldest and the newest in turn, so that a backlog does not delay news.
    (SELECT h.id, h.authority, h.attempts,
            row_number() OVER (ORDER BY h.retry_at, h.id) AS turn
     FROM hosts h
     WHERE h.state = 'unresolved' AND h.found_by = s.found_by AND (h.attempts > 0) = false
       AND h.retry_at <= $1 AND h.id <> ALL ($2)
     ORDER BY h.retry_at, h.id LIMIT $3)
    UNION ALL
    (SELECT h.id, h.authority, h.attempts,
            row_number() OVER (ORDER BY h.retry_at DESC, h.id DESC)
     FROM hosts h
     WHERE h.state = 'unresolved' AND h.found_by = s.found_by AND (h.attempts > 0) = false
       AND h.retry_at <= $1 AND h.id <> ALL ($2)
     ORDER BY h.retry_at DESC, h.id DESC LIMIT $3)
    UNION ALL
    -- Repeated lookups, the oldest first.
    (SELECT h.id, h.authority, h.attempts,
            row_number() OVER (ORDER BY h.retry_at, h.id)
     FROM hosts h
     WHERE h.state = 'unresolved' AND h.found_by = s.found_by AND (h.attempts > 0) = true
       AND h.retry_at <= $1 AND h.id <> ALL ($2)
     ORDER BY h.retry_at, h.id LIMIT $3)
) w
WHERE s.found_by IS NOT NULL
GROUP BY w.id, w.authority, w.attempts, s.found_by
-- The first of every source, then the second of every source, and so on.
ORDER BY w.attempts > 0, min(w.turn), s.found_by
LIMIT $4
