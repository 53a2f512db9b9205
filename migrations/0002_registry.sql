-- The hierarchy of subnets as the registries describe it.

CREATE TABLE generations (
    id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state       text NOT NULL CHECK (state IN ('loading', 'live', 'retired')),
    started_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    live_at     timestamptz,
    read_at     timestamptz,
    remapped_at timestamptz,
    subnets     integer NOT NULL DEFAULT 0,
    companies   integer NOT NULL DEFAULT 0,
    build_ms    bigint NOT NULL DEFAULT 0,
    sources     jsonb NOT NULL DEFAULT '[]'
);
CREATE UNIQUE INDEX generations_one_live ON generations (state) WHERE state = 'live';
COMMENT ON TABLE generations IS
    'Loaded versions of the hierarchy. At most one is live. The load after the next deletes them: '
    'at most three rows.';
COMMENT ON COLUMN generations.id IS 'Number of the generation; rises with each load.';
COMMENT ON COLUMN generations.state IS
    'loading: rows are being copied; live: in use; retired: replaced. Written by: rir-loader.';
COMMENT ON COLUMN generations.started_at IS 'When the load began. Written by: rir-loader.';
COMMENT ON COLUMN generations.live_at IS
    'When it was swapped in; null before. Written by: rir-loader.';
COMMENT ON COLUMN generations.read_at IS
    'When the data was read from files. A generation that differs from the one before only by '
    'subnet splits keeps the time of that one. Null before it is live. Written by: rir-loader.';
COMMENT ON COLUMN generations.remapped_at IS
    'When the delegations that held were last remapped to this generation; null before. Written '
    'by: coordinator, the leader.';
COMMENT ON COLUMN generations.subnets IS
    'Number of its subnets, including the roots. Written by: rir-loader.';
COMMENT ON COLUMN generations.companies IS 'Number of its companies. Written by: rir-loader.';
COMMENT ON COLUMN generations.build_ms IS
    'Milliseconds from the first byte read to the swap. Written by: rir-loader.';
COMMENT ON COLUMN generations.sources IS
    'One object for each file read: registry, file, serial, date, records. Written by: rir-loader.';

-- No foreign keys on companies and subnets: checked row by row they cost half of a load, and only
-- a load writes here.
CREATE TABLE companies (
    generation integer NOT NULL,
    ordinal    integer NOT NULL,
    registry   text NOT NULL,
    handle     text NOT NULL,
    name       text,
    PRIMARY KEY (generation, ordinal)
);
COMMENT ON TABLE companies IS
    'Holders of subnets, by generation. Grows with the registries; the load after the next deletes '
    'a generation.';
COMMENT ON COLUMN companies.generation IS 'The generation it belongs to. Written by: rir-loader.';
COMMENT ON COLUMN companies.ordinal IS
    'CompanyId: position within the generation, from 0. Written by: rir-loader.';
COMMENT ON COLUMN companies.registry IS
    'Registry whose identifier the handle is. Written by: rir-loader.';
COMMENT ON COLUMN companies.handle IS
    'Opaque id or organisation handle, unique within the registry. Written by: rir-loader.';
COMMENT ON COLUMN companies.name IS
    'Name of the holder; null where the source gives none. Written by: rir-loader.';

CREATE TABLE subnets (
    generation integer NOT NULL,
    ordinal    integer NOT NULL,
    parent     integer,
    first      inet NOT NULL,
    last       inet NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('root', 'block', 'delegated', 'virtual')),
    registry   text,
    company    integer,
    country    text,
    PRIMARY KEY (generation, ordinal)
);
COMMENT ON TABLE subnets IS
    'The hierarchy: inclusive address ranges by containment, in pre-order, by generation. Grows '
    'with the registries; the load after the next deletes a generation.';
COMMENT ON COLUMN subnets.generation IS 'The generation it belongs to. Written by: rir-loader.';
COMMENT ON COLUMN subnets.ordinal IS
    'SubnetId: position in pre-order, from 0; parents come before children. Written by: '
    'rir-loader.';
COMMENT ON COLUMN subnets.parent IS
    'Ordinal of the smallest subnet around it; null for the two roots. Written by: rir-loader.';
COMMENT ON COLUMN subnets.first IS 'First address of the subnet. Written by: rir-loader.';
COMMENT ON COLUMN subnets.last IS 'Last address of the subnet, inclusive. Written by: rir-loader.';
COMMENT ON COLUMN subnets.kind IS
    'root: all of IPv4 or IPv6; block: grouping of the hierarchy; delegated: a record of a '
    'registry; virtual: a piece of a delegated subnet or of unregistered space. Only the last two '
    'are given to agents. Written by: rir-loader.';
COMMENT ON COLUMN subnets.registry IS
    'afrinic, apnic, arin, lacnic or ripencc; null where several meet. Written by: rir-loader.';
COMMENT ON COLUMN subnets.company IS
    'Ordinal in companies; null when no holder is named. Written by: rir-loader.';
COMMENT ON COLUMN subnets.country IS
    'Two letters as the registry gives them; null when absent. Written by: rir-loader.';

CREATE TABLE unregistered_subnets (
    first   inet NOT NULL,
    last    inet NOT NULL,
    made_at timestamptz NOT NULL,
    PRIMARY KEY (first, last)
);
COMMENT ON TABLE unregistered_subnets IS
    'Ranges of address space that no registry has assigned, each made a virtual subnet because a '
    'host has an address there. Every load of files gets the parts of them that are '
    'still unassigned, if a host is there. Grows with the hosts there, up to the limit of the '
    'configuration.';
COMMENT ON COLUMN unregistered_subnets.first IS
    'First address of the range. Written by: coordinator when it places a host.';
COMMENT ON COLUMN unregistered_subnets.last IS
    'Last address of the range, inclusive. Written by: coordinator when it places a host.';
COMMENT ON COLUMN unregistered_subnets.made_at IS
    'When the first host was placed there. Written by: coordinator.';
