-- 1: locks the open searches in the order of their ids, so that transactions do not deadlock.
WITH locked AS (SELECT id FROM searches WHERE id = ANY($1) AND state = 'open' ORDER BY id
    FOR UPDATE)
-- 2: ends those that decided for good, and keeps the agents that each search skipped.
UPDATE searches s SET state = CASE WHEN d.provisional THEN 'open' ELSE 'decided' END,
                      decided_at = CASE WHEN d.provisional THEN NULL ELSE $3::timestamptz END,
                      skipped = d.skipped
FROM locked JOIN unnest($1::bigint[], $2::bool[], $4::jsonb[]) AS d (id, provisional,
    skipped) USING (id)
WHERE s.id = locked.id
