-- The slowest hosts of an agent are read in their order. Without it each host of the agent is
-- looked up with its fetches, which lie anywhere on the disk.
CREATE INDEX host_fetches_slow_of_agent ON host_fetches (agent, mean_ms DESC, host DESC);
