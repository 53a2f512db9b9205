-- Ends a search without a delegation, because its subnet may not be delegated any more.
-- 1: closes the search, unless it was decided meanwhile.
WITH over AS (
   UPDATE searches SET state = 'decided', decided_at = $2 WHERE id = $1 AND state = 'open'
   RETURNING first, last
)
-- 2: takes the waiting hosts out of the subnet, so that place_hosts finds another one for them.
UPDATE hosts h SET first = NULL, last = NULL
FROM over WHERE h.first = over.first AND h.last = over.last AND h.state = 'resolved'
