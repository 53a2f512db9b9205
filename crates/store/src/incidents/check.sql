-- Orders a probe of `target` from an agent and waits for it.
WITH stands AS (SELECT id FROM incidents WHERE id = $1 AND state = $2 AND probe IS NOT DISTINCT
    FROM $3 FOR UPDATE),
ordered AS (
   INSERT INTO probes (agent, purpose, target, target_host, target_port, asked_at)
   SELECT $4, 'check', $5, $6, $7, $8 FROM stands RETURNING id
)
UPDATE incidents c SET probe = ordered.id, changed_at = $8,
       control_probe = CASE WHEN $9::int IS NULL THEN c.control_probe ELSE $4 END,
           before_us = coalesce($9, c.before_us)
FROM stands, ordered WHERE c.id = stands.id
