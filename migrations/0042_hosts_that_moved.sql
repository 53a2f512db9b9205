-- Hosts whose agents connect to addresses outside of the hosts' subnets, as after a move to another
-- network. Hosts to which name servers give another address everywhere are among them for good.
CREATE TABLE stray_hosts (
    host       bigint PRIMARY KEY REFERENCES hosts DEFERRABLE INITIALLY DEFERRED,
    packages   smallint NOT NULL,
    counted_at timestamptz NOT NULL
);
CREATE INDEX stray_hosts_due ON stray_hosts (packages, counted_at);
COMMENT ON TABLE stray_hosts IS
    'Hosts that their agents last found outside of their subnets. A package with an address inside '
    'deletes the row.';
COMMENT ON COLUMN stray_hosts.host IS 'HostId. Written by: coordinator at ingestion.';
COMMENT ON COLUMN stray_hosts.packages IS
    'Packages in a row with an address outside, at most one an hour; from 3 on the name is looked '
    'up again, which sets 0. Written by: coordinator at ingestion, and follow_hosts.';
COMMENT ON COLUMN stray_hosts.counted_at IS
    'When a package last counted; after a lookup, the time from which packages count again. '
    'Written by: coordinator at ingestion, and follow_hosts.';
