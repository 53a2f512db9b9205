-- Virtual subnets of address space that no registry has assigned, releases of hosts of revoked
-- agents, and generations of delegations.

CREATE TABLE unregistered_subnets (
    first   inet NOT NULL,
    last    inet NOT NULL,
    made_at timestamptz NOT NULL,
    PRIMARY KEY (first, last)
);
COMMENT ON TABLE unregistered_subnets IS
    'Ranges of address space that no registry has assigned, each made a virtual subnet because a '
    'host has an address there. Every generation of the hierarchy gets the parts of them that are '
    'still unassigned.';
COMMENT ON COLUMN unregistered_subnets.first IS
    'First address of the range. Written by: coordinator when it places a host.';
COMMENT ON COLUMN unregistered_subnets.last IS
    'Last address of the range, inclusive. Written by: coordinator when it places a host.';
COMMENT ON COLUMN unregistered_subnets.made_at IS
    'When the first host was placed there. Written by: coordinator.';

-- The hosts of a revoked agent are released without a next agent: searches decide later.
ALTER TABLE handovers DROP CONSTRAINT handovers_check1;
ALTER TABLE handovers ADD CONSTRAINT handovers_next_agent
    CHECK (task = 'release' OR next_agent IS NULL);
COMMENT ON COLUMN handovers.next_agent IS
    'The agent that the delegation named when the order was made or last changed; null when '
    'nobody had the subnet, because the agent was revoked, and for the task settle. Written by: '
    'coordinator.';

-- The audit finds delegations that a new generation of the hierarchy has left behind.
ALTER TABLE delegations ADD COLUMN hierarchy integer;
COMMENT ON COLUMN delegations.hierarchy IS
    'The generation of the hierarchy that was live when the delegation began; null where it began '
    'before this was kept. Written by: coordinator.';
ALTER TABLE generations ADD COLUMN remapped_at timestamptz;
COMMENT ON COLUMN generations.remapped_at IS
    'When the delegations that held were last remapped to this generation; null before. Written '
    'by: coordinator, the leader.';
