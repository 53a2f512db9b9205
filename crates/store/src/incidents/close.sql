-- The next reports of the subnet are judged from nothing, and so is its path unless what is known
-- of it still holds ($4).
UPDATE timing_reports SET summary = $3, usual = 0, slower = 0,
    path = CASE WHEN $4 THEN path END
WHERE first = $1 AND last = $2
