-- Ends a search without a delegation: its subnet is not in the hierarchy any more.
WITH over AS (
   UPDATE searches SET state = 'decided', decided_at = $2 WHERE id = $1 AND state = 'open'
   RETURNING first, last
)
UPDATE hosts h SET first = NULL, last = NULL
FROM over WHERE h.first = over.first AND h.last = over.last AND h.state = 'resolved'
