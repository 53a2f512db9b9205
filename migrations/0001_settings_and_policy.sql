-- Facts of the installation and the settings of the operator.
--
-- The files of this directory are one set, by topic. From version 0.1.0 on, a release adds files
-- that only expand the schema; a later release contracts what no supported version uses any more.

CREATE TABLE settings (
    name  text PRIMARY KEY,
    value jsonb NOT NULL
);
COMMENT ON TABLE settings IS 'Small facts of this installation. A few rows.';
COMMENT ON COLUMN settings.name IS
    'Which fact, such as token_secret. Written by: coordinator at first start.';
COMMENT ON COLUMN settings.value IS 'The fact. Written by: coordinator.';

CREATE TABLE policy (
    id                         boolean PRIMARY KEY DEFAULT true CHECK (id),
    strategy                   text NOT NULL DEFAULT 'predictive'
        CHECK (strategy IN ('threshold', 'predictive')),
    threshold_us               integer NOT NULL DEFAULT 50000
        CHECK (threshold_us BETWEEN 1 AND 60000000),
    patience_ms                integer NOT NULL DEFAULT 60000
        CHECK (patience_ms BETWEEN 1000 AND 86400000),
    parallel_probes            integer NOT NULL DEFAULT 1
        CHECK (parallel_probes BETWEEN 1 AND 100),
    samples_per_probe          smallint NOT NULL DEFAULT 3
        CHECK (samples_per_probe BETWEEN 1 AND 10),
    probes_per_agent           integer NOT NULL DEFAULT 20000 CHECK (probes_per_agent >= 1),
    probes_per_target          integer NOT NULL DEFAULT 50 CHECK (probes_per_target >= 1),
    probes_total               bigint NOT NULL DEFAULT 1000000 CHECK (probes_total >= 1),
    control_permille           smallint NOT NULL DEFAULT 10
        CHECK (control_permille BETWEEN 0 AND 1000),
    host_delay_ms              integer NOT NULL DEFAULT 1000
        CHECK (host_delay_ms BETWEEN 0 AND 3600000),
    pages_per_host             integer NOT NULL DEFAULT 10000 CHECK (pages_per_host >= 1),
    link_depth                 smallint NOT NULL DEFAULT 25
        CHECK (link_depth BETWEEN 0 AND 255),
    discovered_urls_per_agent  integer NOT NULL DEFAULT 1000000
        CHECK (discovered_urls_per_agent >= 1),
    discovered_hosts_per_agent integer NOT NULL DEFAULT 50000
        CHECK (discovered_hosts_per_agent >= 1),
    discovered_urls_per_host   integer NOT NULL DEFAULT 20000
        CHECK (discovered_urls_per_host >= 1),
    revisit_s                  integer NOT NULL DEFAULT 604800
        CHECK (revisit_s BETWEEN 0 AND 31536000),
    revisit_least_s            integer NOT NULL DEFAULT 86400
        CHECK (revisit_least_s BETWEEN 1 AND 31536000),
    slowdown_percent           integer NOT NULL DEFAULT 200
        CHECK (slowdown_percent BETWEEN 110 AND 10000),
    slowdown_repeats           smallint NOT NULL DEFAULT 3
        CHECK (slowdown_repeats BETWEEN 1 AND 100),
    incident_cooldown_s        integer NOT NULL DEFAULT 86400
        CHECK (incident_cooldown_s BETWEEN 1 AND 31536000),
    incident_window_s          integer NOT NULL DEFAULT 3600
        CHECK (incident_window_s BETWEEN 1 AND 31536000),
    balance_rule               text NOT NULL DEFAULT 'cheapest'
        CHECK (balance_rule IN ('variance', 'next_best', 'cheapest', 'off')),
    balance_pass               text NOT NULL DEFAULT 'optimal'
        CHECK (balance_pass IN ('optimal', 'off')),
    balance_moves_per_day      integer NOT NULL DEFAULT 100
        CHECK (balance_moves_per_day BETWEEN 0 AND 1000000),
    balance_least_gain_ms      integer NOT NULL DEFAULT 1000 CHECK (balance_least_gain_ms >= 0),
    changed_at                 timestamptz NOT NULL DEFAULT now()
);
INSERT INTO policy DEFAULT VALUES;
COMMENT ON TABLE policy IS 'The settings of the operator, which apply at once. One row.';
COMMENT ON COLUMN policy.id IS 'Always true, so that there is one row.';
COMMENT ON COLUMN policy.strategy IS
    'How searches opened from now on choose the next agent: threshold (IPMicra III.E) or '
    'predictive. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.threshold_us IS
    'Probing threshold in microseconds (IPMicra III.D). Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.patience_ms IS
    'How long a search waits for one candidate, in milliseconds. Written by: coordinator for an '
    'admin.';
COMMENT ON COLUMN policy.parallel_probes IS
    'How many agents a search may ask at the same time. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.samples_per_probe IS
    'Round trips measured for one probe; the smallest counts. Written by: coordinator for an '
    'admin.';
COMMENT ON COLUMN policy.probes_per_agent IS
    'Most probes asked of one agent in a day (UTC). Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.probes_per_target IS
    'Most probes sent into one subnet in a day (UTC). Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.probes_total IS
    'Most probes asked of all agents together in a day (UTC). Written by: coordinator for an '
    'admin.';
COMMENT ON COLUMN policy.control_permille IS
    'How many of a thousand decided searches a second agent checks, when the chosen agent is '
    'trusted. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.host_delay_ms IS
    'Least pause between two requests to a host, in milliseconds. Written by: coordinator for an '
    'admin.';
COMMENT ON COLUMN policy.pages_per_host IS
    'Most pages of one host, those in the queue included. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.link_depth IS
    'Most links between a routed URL and a page. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.discovered_urls_per_agent IS
    'Most URLs that are queued of what one agent discovers in a day (UTC). Written by: coordinator '
    'for an admin.';
COMMENT ON COLUMN policy.discovered_hosts_per_agent IS
    'Most new hosts of what one agent discovers in a day (UTC). Written by: coordinator for an '
    'admin.';
COMMENT ON COLUMN policy.discovered_urls_per_host IS
    'Most discovered URLs that are queued for one host in a day (UTC). Written by: coordinator for '
    'an admin.';
COMMENT ON COLUMN policy.revisit_s IS
    'Longest age at which an agent visits a page again, and that of its first revisit, in seconds; '
    '0 for never. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.revisit_least_s IS
    'Shortest age at which an agent visits a page again that changes often, in seconds. Written '
    'by: coordinator for an admin.';
COMMENT ON COLUMN policy.slowdown_percent IS
    'How long a page must take to be reported as slower, in per cent of its usual time (IPMicra '
    'III.F). Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.slowdown_repeats IS
    'How often in a row a page must be slow to be reported. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.incident_cooldown_s IS
    'Least time from one delegation of a subnet to a new search because its pages became slower, '
    'in seconds. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.incident_window_s IS
    'Length of the window in which timing reports count together, and interval at which a former '
    'agent measures whether its path has recovered, in seconds. Written by: coordinator for an '
    'admin.';
COMMENT ON COLUMN policy.balance_rule IS
    'Which subnet leaves an agent that is over its capacity: variance (IPMicra III.F), next_best, '
    'cheapest; off: none. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.balance_pass IS
    'optimal: periodic passes move subnets towards the cheapest plan; off: they do not. Written '
    'by: coordinator for an admin.';
COMMENT ON COLUMN policy.balance_moves_per_day IS
    'Most subnets that passes move in 24 hours. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.balance_least_gain_ms IS
    'What a move of a pass must save at least, in milliseconds a day, unless it relieves an agent. '
    'Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.changed_at IS 'Last change. Written by: coordinator.';
