-- Stores what was concluded ($6, $7, $8) and removes what it was concluded from: counts ($4, $5)
-- and the round trip of time $9. What arrived meanwhile stays.
UPDATE timing_reports SET
    usual = usual - $4, slower = slower - $5, summary = $6, path = $7,
    connect_us = CASE WHEN connect_at > $9 OR $9::timestamptz IS NULL THEN connect_us END,
    check_at = coalesce($8::timestamptz, check_at),
    unanswered_checks = CASE WHEN $9::timestamptz IS NULL THEN unanswered_checks ELSE 0 END
WHERE first = $1 AND last = $2 AND agent = $3 AND usual >= $4 AND slower >= $5
