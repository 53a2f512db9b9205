-- Opens a search, unless the subnet has an open one.
INSERT INTO searches (first, last, target, target_host, target_port, strategy, threshold_us,
    opened_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (first, last) WHERE state = 'open' DO NOTHING RETURNING id
