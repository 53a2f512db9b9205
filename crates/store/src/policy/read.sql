-- Read the policy of calibration.
SELECT revisit_s, slowdown_percent, slowdown_repeats, rest_s, calibration_window_s FROM policy
