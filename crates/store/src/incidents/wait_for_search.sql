-- The incident waits for the search that is open.
UPDATE incidents SET state = $2, probe = NULL, now_us = coalesce($3, now_us), changed_at = $4,
       search = (SELECT id FROM searches WHERE first = $5 AND last = $6 AND state = 'open')
WHERE id = $1
