-- Quotas on the URLs that agents discover.

ALTER TABLE policy
    ADD COLUMN discovered_urls_per_agent  integer NOT NULL DEFAULT 1000000
        CHECK (discovered_urls_per_agent >= 1),
    ADD COLUMN discovered_hosts_per_agent integer NOT NULL DEFAULT 50000
        CHECK (discovered_hosts_per_agent >= 1),
    ADD COLUMN discovered_urls_per_host   integer NOT NULL DEFAULT 20000
        CHECK (discovered_urls_per_host >= 1);
COMMENT ON COLUMN policy.discovered_urls_per_agent IS
    'Most URLs that are queued of what one agent discovers in a day (UTC). Written by: '
    'coordinator for an admin.';
COMMENT ON COLUMN policy.discovered_hosts_per_agent IS
    'Most new hosts of what one agent discovers in a day (UTC). Written by: coordinator for an '
    'admin.';
COMMENT ON COLUMN policy.discovered_urls_per_host IS
    'Most discovered URLs that are queued for one host in a day (UTC). Written by: coordinator '
    'for an admin.';

ALTER TABLE hosts
    ADD COLUMN queued_day date,
    ADD COLUMN queued     integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN hosts.queued_day IS
    'Day (UTC) to which queued belongs; null before the first discovered URL. Written by: '
    'coordinator at ingestion.';
COMMENT ON COLUMN hosts.queued IS
    'Discovered URLs queued for it on that day. Written by: coordinator at ingestion.';

CREATE TABLE discovery_days (
    agent   bigint NOT NULL REFERENCES agents,
    day     date NOT NULL,
    urls    bigint NOT NULL DEFAULT 0,
    hosts   bigint NOT NULL DEFAULT 0,
    refused bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (agent, day)
);
COMMENT ON TABLE discovery_days IS
    'What each agent discovered on each of the last 30 days; one row per agent and day. Older '
    'rows are deleted.';
COMMENT ON COLUMN discovery_days.agent IS 'The agent. Written by: coordinator at ingestion.';
COMMENT ON COLUMN discovery_days.day IS
    'Day of the ingestion (UTC). Written by: coordinator at ingestion.';
COMMENT ON COLUMN discovery_days.urls IS
    'URLs that were queued. Written by: coordinator at ingestion.';
COMMENT ON COLUMN discovery_days.hosts IS
    'Hosts that were new. Written by: coordinator at ingestion.';
COMMENT ON COLUMN discovery_days.refused IS
    'URLs that a quota refused. Written by: coordinator at ingestion.';
