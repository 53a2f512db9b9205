-- Closes an incident that is still in the state in which the step began.
UPDATE incidents SET state = $3, probe = NULL, now_us = coalesce($4, now_us), ended_at = $5,
    changed_at = $5,
       returned_at = CASE WHEN $3 = 'returned' THEN $5::timestamptz END
WHERE id = $1 AND state = $2
