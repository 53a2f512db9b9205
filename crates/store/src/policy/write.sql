-- Replaces the policy.
UPDATE policy SET threshold_us = $1, patience_ms = $2, host_delay_ms = $3, pages_a_host = $4,
    depth = $5,
strategy = $6, parallel = $7, samples = $8, probes_per_agent = $9, probes_per_target = $10,
probes_in_all = $11, changed_at = $12, control_permille = $13
