-- Hosts with an address after `after`, in order of their number.
SELECT id, address, first, last FROM hosts
WHERE id > $1 AND address IS NOT NULL AND state IN ('resolved', 'delegated', 'moving')
    ORDER BY id LIMIT $2
