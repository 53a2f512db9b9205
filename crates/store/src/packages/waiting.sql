-- Packages that a coordinator has not taken: those that it passed over ($2), and the next $3 of the
-- ledger after the last position that it has reached ($1).
(SELECT position, agent, plain_bytes FROM packages WHERE position = ANY($2))
UNION ALL
(SELECT position, agent, plain_bytes FROM packages WHERE position > $1 ORDER BY position LIMIT $3)
ORDER BY position
