-- Replaces the settings of calibration.
UPDATE policy SET revisit_s = $1, slowdown_percent = $2, slowdown_repeats = $3, rest_s = $4,
    calibration_window_s = $5
