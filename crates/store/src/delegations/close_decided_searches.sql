-- Ends the searches that decided for good, and keeps the agents that each skipped.
WITH locked AS (SELECT id FROM searches WHERE id = ANY($1) AND state = 'open' ORDER BY id
    FOR UPDATE)
UPDATE searches s SET state = CASE WHEN d.provisional THEN 'open' ELSE 'decided' END,
                      decided_at = CASE WHEN d.provisional THEN NULL ELSE $3::timestamptz END,
                      skipped = d.skipped
FROM locked JOIN unnest($1::bigint[], $2::bool[], $4::jsonb[]) AS d (id, provisional,
    skipped) USING (id)
WHERE s.id = locked.id
