-- Reads the settings of balance.
SELECT balance_rule, balance_pass = 'optimal', balance_moves_a_day, balance_least_gain_ms
    FROM policy
