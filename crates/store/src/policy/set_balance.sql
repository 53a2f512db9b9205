-- Replaces it.
UPDATE policy SET balance_rule = $1, balance_pass = CASE WHEN $2 THEN 'optimal' ELSE 'off' END,
balance_moves_a_day = $3, balance_least_gain_ms = $4, changed_at = $5
