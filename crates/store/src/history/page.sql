-- The next $4 delegations that ended before $1, after the one that ended at $2 with number $3.
-- Deletable: a later delegation of the subnet keeps its fencing number, and no incident
-- under way refers to it.
SELECT d.id, d.ended_at, d.search,
       EXISTS (SELECT FROM delegations n
               WHERE n.first = d.first AND n.last = d.last AND n.fencing_number > d.fencing_number)
       AND NOT EXISTS (SELECT FROM incidents i WHERE i.delegation = d.id AND i.ended_at IS NULL)
       AS is_deletable
FROM delegations d
WHERE d.ended_at < $1 AND (d.ended_at, d.id) > ($2, $3)
ORDER BY d.ended_at, d.id LIMIT $4
