-- Virtual subnets of address space that no registry has assigned.

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
