-- Regions: agents that share hosts among themselves.

CREATE TABLE regions (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL UNIQUE,
    settings   jsonb NOT NULL,
    view       bytea NOT NULL,
    promises   bytea,
    lent_until timestamptz NOT NULL,
    formed_at  timestamptz NOT NULL
);
COMMENT ON TABLE regions IS 'Regions. One row for each; a region is never deleted.';
COMMENT ON COLUMN regions.id IS 'RegionId.';
COMMENT ON COLUMN regions.name IS
    'The registry of its agents'' home subnets, or the label that their owners gave. Written by: '
    'coordinator when the region is formed.';
COMMENT ON COLUMN regions.settings IS
    'Times and bounds, the same for all members as long as the region exists. Written by: '
    'coordinator when the region is formed.';
COMMENT ON COLUMN regions.view IS
    'Roster and deltas with their signatures, as members get them. Written by: coordinator '
    '(form_regions).';
COMMENT ON COLUMN regions.promises IS
    'What the coordinator promised as a voter on leases; null before the first promise. Written '
    'by: coordinator before it answers.';
COMMENT ON COLUMN regions.lent_until IS
    'End of the last loan: until then no subnet of a member goes to another agent. Written by: '
    'coordinator before it answers.';
COMMENT ON COLUMN regions.formed_at IS 'When it was formed. Written by: coordinator.';

ALTER TABLE agents
    ADD COLUMN peer_addresses jsonb,
    ADD COLUMN region_label   text,
    ADD COLUMN region         bigint REFERENCES regions;
COMMENT ON COLUMN agents.peer_addresses IS
    'Base URLs at which it listens for peers; null while its owner does not want it to be in a '
    'region. Written by: coordinator when the agent asks for its region.';
COMMENT ON COLUMN agents.region_label IS
    'Region that the owner asks for; null leaves it to the coordinator. Written by: coordinator '
    'when the agent asks for its region.';
COMMENT ON COLUMN agents.region IS
    'Region whose roster lists it, or listed it last; null if it never was in one. Written by: '
    'coordinator (form_regions).';
