-- Replaces all settings of the operator.
UPDATE policy SET
    strategy = $1, threshold_us = $2, patience_ms = $3,
    parallel_probes = $4, samples_per_probe = $5,
    probes_per_agent = $6, probes_per_target = $7, probes_total = $8, control_permille = $9,
    host_delay_ms = $10, pages_per_host = $11, link_depth = $12,
    -- Calibration.
    revisit_s = $13, revisit_least_s = $14, slowdown_percent = $15, slowdown_repeats = $16,
    incident_cooldown_s = $17, incident_window_s = $18,
    -- Balance.
    balance_rule = $19, balance_pass = CASE WHEN $20 THEN 'optimal' ELSE 'off' END,
    balance_moves_per_day = $21, balance_least_gain_ms = $22,
    -- Quotas of discovery.
    discovered_urls_per_agent = $23, discovered_hosts_per_agent = $24,
    discovered_urls_per_host = $25,
    changed_at = $26
