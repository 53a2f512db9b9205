-- What waits of each agent: an agent that has too much waiting may not send more.
CREATE INDEX packages_waiting_of_agent ON packages (agent)
    WHERE ingested_at IS NULL AND failures = 0;
CREATE INDEX host_bundles_agent ON host_bundles (agent) INCLUDE (bytes);
