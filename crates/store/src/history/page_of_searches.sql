-- The next searches that ended before $1, those after a position, the oldest first: of each state
-- the next ones along its own index.
SELECT id, decided_at FROM (
   (SELECT id, decided_at FROM searches
    WHERE state = 'decided' AND decided_at < $1 AND (decided_at, id) > ($2, $3)
    ORDER BY decided_at, id LIMIT $4)
   UNION ALL
   (SELECT id, decided_at FROM searches
    WHERE state = 'unanswered' AND decided_at < $1 AND (decided_at, id) > ($2, $3)
    ORDER BY decided_at, id LIMIT $4)
) AS ended
ORDER BY decided_at, id LIMIT $4
