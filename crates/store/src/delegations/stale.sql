-- Delegations that hold and began on another generation of the hierarchy than this one ($1), unless
-- they were remapped to it since.
SELECT d.first, d.last, d.generation
FROM delegations d JOIN generations g ON g.id = $1
WHERE d.ended_at IS NULL AND d.generation <> g.id
  AND (g.remapped_at IS NULL OR d.decided_at > g.remapped_at)
ORDER BY d.id
