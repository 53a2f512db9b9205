-- The next reports of the subnet are judged from nothing.
UPDATE timing_reports SET summary = $3, usual = 0, slower = 0 WHERE first = $1 AND last = $2
