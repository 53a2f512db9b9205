-- 1: locks the incident if it still waits for the same probe ($3).
WITH locked AS (SELECT id FROM incidents WHERE id = $1 AND state = $2 AND probe IS NOT DISTINCT
    FROM $3 FOR UPDATE),
-- 2: orders the probe.
ordered AS (
   INSERT INTO probes (agent, purpose, target, target_host, target_port, asked_at)
   SELECT $4, 'check', $5, $6, $7, $8 FROM locked RETURNING id
)
-- 3: waits for it; a control probe brings the earlier round trip of its agent ($9). Without a probe
-- before it ($3), it is the first one or replaces a withdrawn one, which measured nothing.
UPDATE incidents c SET probe = ordered.id, changed_at = $8,
       control_probe = CASE WHEN $9::int IS NULL THEN c.control_probe ELSE $4 END,
       before_us = coalesce($9, c.before_us),
       controls = CASE WHEN $9 IS NULL THEN c.controls WHEN $3::bigint IS NULL THEN 1
           ELSE c.controls + 1 END
FROM locked, ordered WHERE c.id = locked.id
