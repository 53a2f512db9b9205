-- A search with every probe of it, in order.
SELECT id, target, target_host, strategy, threshold_us, state = 'open' AS open, opened_at,
       decided_at, finding, finding_detail
FROM searches WHERE id = $1
