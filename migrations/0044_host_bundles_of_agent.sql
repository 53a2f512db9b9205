-- What waits of each agent: an agent whose bundles take too much space may not send more.
CREATE INDEX host_bundles_agent ON host_bundles (agent) INCLUDE (bytes);
