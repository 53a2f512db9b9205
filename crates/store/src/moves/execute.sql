-- Writes down a move of a subnet and why. The delegation changes in the same transaction.
INSERT INTO moves (at, first, last, from_agent, to_agent, delegation, rule, is_relief, pages_a_day,
                   cost_before_ms, cost_after_ms, refused)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
