-- Ends a constraint.
UPDATE constraints SET ended_at = $3, ended_by = $4 WHERE id = $1 AND kind = $2 AND ended_at IS NULL
