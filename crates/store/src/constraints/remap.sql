-- Moves pins and exclusions of ranges to the places of their ranges in a new generation.
-- 1: sets the new range; a constraint without one yields to another of its kind and ends.
WITH moved AS (
   UPDATE constraints s
   SET first = coalesce(m.first, s.first), last = coalesce(m.last, s.last),
       ended_at = CASE WHEN m.first IS NULL THEN $5 END,
       ended_by = CASE WHEN m.first IS NULL THEN 'coordinator' END
   FROM unnest($1::bigint[], $2::inet[], $3::inet[], $4::text[]) AS m (id, first, last,
       range_change)
   WHERE s.id = m.id AND s.ended_at IS NULL
   RETURNING s.id, s.kind, s.ended_at, m.range_change
)
-- 2: writes an audit entry for each, with what became of its range.
INSERT INTO audit (at, actor, action, subject, detail)
SELECT $5, 'coordinator', kind || CASE WHEN ended_at IS NULL THEN '.remap' ELSE '.end' END,
       CASE kind WHEN 'pin' THEN 'pin_' ELSE 'exc_' END || id, jsonb_build_object('why',
           'its range ' || range_change)
FROM moved
