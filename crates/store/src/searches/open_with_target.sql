-- Opens a search of the same subnet with another target. An incident that waits for the former one
-- waits for the new one.
WITH opened AS (
    INSERT INTO searches (first, last, target, target_host, target_port, strategy, threshold_us,
        opened_at)
    SELECT first, last, $2, $3, $4, strategy, threshold_us, $5 FROM searches WHERE id = $1
    RETURNING id
)
UPDATE incidents SET search = opened.id FROM opened
WHERE incidents.search = $1 AND incidents.ended_at IS NULL
