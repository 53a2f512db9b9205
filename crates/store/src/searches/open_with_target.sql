-- Opens a search of the same subnet with another target.
INSERT INTO searches (first, last, target, target_host, target_port, strategy, threshold_us,
    opened_at)
SELECT first, last, $2, $3, $4, strategy, threshold_us, $5 FROM searches WHERE id = $1
