-- $1: now; $2: the largest number that is counted. Each part reads an index of what waits.
SELECT
    -- Index searches_one_open.
    (SELECT count(*) FROM (SELECT FROM searches WHERE state = 'open' LIMIT $2) AS w) AS searches,
    -- Index probes_asked.
    (SELECT count(*) FROM (SELECT FROM probes WHERE state = 'asked' LIMIT $2) AS w) AS probes,
    -- Index packages_waiting: it holds what waits and what was set aside.
    (SELECT count(*) FROM (
        SELECT FROM packages WHERE ingested_at IS NULL AND failure IS NULL
        ORDER BY position LIMIT $2) AS w) AS packages,
    (SELECT received_at FROM packages WHERE ingested_at IS NULL AND failure IS NULL
        ORDER BY position LIMIT 1) AS oldest_package,
    -- Index packages_failed.
    (SELECT count(*) FROM (
        SELECT FROM packages WHERE failure IS NOT NULL
        ORDER BY position LIMIT $2) AS w) AS packages_set_aside,
    -- Index hosts_unresolved. A host that waits after a failed lookup is not due.
    (SELECT count(*) FROM (
        SELECT FROM hosts WHERE state = 'unresolved' AND retry_at <= $1
        ORDER BY retry_at LIMIT $2) AS w) AS unresolved_hosts,
    (SELECT retry_at FROM hosts WHERE state = 'unresolved' AND retry_at <= $1
        ORDER BY retry_at LIMIT 1) AS oldest_unresolved,
    -- Index hosts_waiting_due. A host that rests after a search without an answer is not due.
    (SELECT count(*) FROM (
        SELECT FROM hosts WHERE state = 'resolved' AND retry_at <= $1
        ORDER BY retry_at LIMIT $2) AS w) AS waiting_hosts,
    -- The primary key.
    (SELECT count(*) FROM (SELECT FROM pending_urls ORDER BY id LIMIT $2) AS w) AS urls
