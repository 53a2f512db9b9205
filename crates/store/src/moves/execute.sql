-- Moves a subnet and writes down why, in one transaction.
INSERT INTO moves (at, first, last, from_agent, to_agent, delegation, rule, is_relief, pages_a_day,
                   cost_before_ms, cost_after_ms, refused)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
