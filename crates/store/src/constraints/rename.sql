-- Gives a constraint ($1) another company ($2, $3), or ends it at $4 where another of its kind has
-- that company. Returns whether it goes on; nothing if it had ended.
WITH other AS (
    SELECT FROM constraints s JOIN constraints o
      ON o.id <> s.id AND o.kind = s.kind AND o.scope = s.scope AND o.ended_at IS NULL
     AND o.registry = $2 AND o.handle = $3 AND (s.kind = 'pin' OR o.agent = s.agent)
    WHERE s.id = $1
)
UPDATE constraints s
SET registry = CASE WHEN EXISTS (SELECT FROM other) THEN s.registry ELSE $2 END,
    handle = CASE WHEN EXISTS (SELECT FROM other) THEN s.handle ELSE $3 END,
    ended_at = CASE WHEN EXISTS (SELECT FROM other) THEN $4::timestamptz END,
    ended_by = CASE WHEN EXISTS (SELECT FROM other) THEN 'coordinator' END
WHERE s.id = $1 AND s.ended_at IS NULL
RETURNING s.ended_at IS NULL
