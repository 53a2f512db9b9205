-- Opens searches; a subnet that has an open one keeps it.
INSERT INTO searches (first, last, target, target_host, target_port, strategy, threshold_us,
    opened_at)
SELECT first, last, target, host, port, $6, $7, $8
FROM unnest($1::inet[], $2::inet[], $3::inet[], $4::text[], $5::int[]) AS s (first, last, target,
    host, port)
ON CONFLICT (first, last) WHERE state = 'open' DO NOTHING
