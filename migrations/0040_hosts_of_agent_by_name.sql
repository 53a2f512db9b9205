-- Hosts of an agent by the beginning of their names. Without it the rows of all its hosts are read,
-- or those of all hosts of the name; they lie anywhere on the disk. The identifier is in the index,
-- so that a list in another order needs no row of hosts before it is sorted.
CREATE INDEX hosts_of_agent_by_name ON hosts (agent, authority text_pattern_ops) INCLUDE (id)
    WHERE agent IS NOT NULL;
