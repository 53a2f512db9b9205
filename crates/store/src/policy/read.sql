-- Reads all settings. The columns are named, so that a coordinator goes on while a newer one adds
-- others.
SELECT
    strategy, threshold_us, patience_ms, parallel_probes, samples_per_probe,
    probes_per_agent, probes_per_target, probes_total, control_permille,
    host_delay_ms, pages_per_host, link_depth,
    revisit_s, revisit_least_s, slowdown_percent, slowdown_repeats,
    incident_cooldown_s, incident_window_s,
    balance_rule, balance_pass, balance_moves_per_day, balance_least_gain_ms,
    discovered_urls_per_agent, discovered_hosts_per_agent, discovered_urls_per_host
FROM policy
