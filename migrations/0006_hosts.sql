-- Web hosts, and hosts and addresses about which something must be done. Foreign keys of rows that
-- are written by the thousand are checked when their transaction ends: by then it can ask for plans
-- that are kept, where otherwise a plan would be made for each row.

CREATE TABLE hosts (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scheme     text NOT NULL CHECK (scheme IN ('http', 'https')),
    authority  text NOT NULL,
    state      text NOT NULL DEFAULT 'unresolved'
        CHECK (state IN ('unresolved', 'resolved', 'delegated', 'moving', 'failed')),
    address    inet,
    first      inet,
    last       inet,
    agent      bigint REFERENCES agents DEFERRABLE INITIALLY DEFERRED,
    attempts   smallint NOT NULL DEFAULT 0,
    retry_at   timestamptz NOT NULL DEFAULT now(),
    reason     text,
    silences   smallint NOT NULL DEFAULT 0,
    found_at   timestamptz NOT NULL DEFAULT now(),
    found_by   bigint NOT NULL DEFAULT 0,
    queued_day date,
    queued     integer NOT NULL DEFAULT 0,
    pages      bigint NOT NULL DEFAULT 0,
    fetches    bigint NOT NULL DEFAULT 0,
    wire_bytes bigint NOT NULL DEFAULT 0,
    fetch_ms   bigint NOT NULL DEFAULT 0,
    UNIQUE (scheme, authority)
);
-- The next hosts of each source, first lookups apart from repeated ones.
CREATE INDEX hosts_lookups ON hosts (found_by, (attempts > 0), retry_at, id)
    WHERE state = 'unresolved';
-- The lookup that has waited longest, whatever its source.
CREATE INDEX hosts_due ON hosts (retry_at) WHERE state = 'unresolved';
-- Hosts whose subnet was not found yet.
CREATE INDEX hosts_unplaced ON hosts (id)
    WHERE state = 'resolved' AND address IS NOT NULL AND first IS NULL;
-- Hosts that wait for an agent. Those that answer nobody rest for hours before the next search:
-- what is due is counted without them.
CREATE INDEX hosts_waiting ON hosts (id) WHERE state = 'resolved';
CREATE INDEX hosts_waiting_due ON hosts (retry_at) WHERE state = 'resolved';
-- Subnets in which hosts wait, found by their addresses.
CREATE INDEX hosts_waiting_subnets ON hosts (first, last) WHERE state = 'resolved';
CREATE INDEX hosts_subnet ON hosts (first, last, id DESC);
-- Lists, the newest first: of a state, of an agent, of those that seeds named.
CREATE INDEX hosts_state ON hosts (state, id DESC);
CREATE INDEX hosts_of_agent ON hosts (agent, id DESC) WHERE agent IS NOT NULL;
CREATE INDEX hosts_seeded ON hosts (id DESC) WHERE found_by = 0;
-- Hosts found by their name and by their address.
CREATE INDEX hosts_authority ON hosts (authority text_pattern_ops);
CREATE INDEX hosts_address ON hosts (address) WHERE address IS NOT NULL;
-- Hosts of an agent by the beginning of their names. Without it the rows of all its hosts are read,
-- or those of all hosts of the name; they lie anywhere on the disk. The identifier is in the index,
-- so that a list in another order needs no row of hosts before it is sorted.
CREATE INDEX hosts_of_agent_by_name ON hosts (agent, authority text_pattern_ops) INCLUDE (id)
    WHERE agent IS NOT NULL;
COMMENT ON TABLE hosts IS 'Web hosts that were seen in a URL. Grows with the web; never deleted.';
COMMENT ON COLUMN hosts.id IS 'HostId.';
COMMENT ON COLUMN hosts.scheme IS 'http or https. Written by: coordinator.';
COMMENT ON COLUMN hosts.authority IS
    'Host name or address, with the port where it is not the default. Written by: coordinator.';
COMMENT ON COLUMN hosts.state IS
    'unresolved: no address yet; resolved: waits until its subnet has an agent; delegated: has an '
    'agent; moving: its agent was ordered to release it and nothing more is routed there; failed: '
    'given up. Written by: coordinator.';
COMMENT ON COLUMN hosts.address IS
    'Address by which its subnet is found; null until it is resolved. Written by: coordinator from '
    'DNS.';
COMMENT ON COLUMN hosts.first IS
    'First address of its subnet; null until it has one. Written by: coordinator.';
COMMENT ON COLUMN hosts.last IS
    'Last address of its subnet; null until it has one. Written by: coordinator.';
COMMENT ON COLUMN hosts.agent IS
    'The agent that crawls it; while it is moving, the agent that still may. Null while it has '
    'none. Written by: coordinator with the delegation.';
COMMENT ON COLUMN hosts.attempts IS
    'Resolutions, or searches for its subnet, that failed in a row. Written by: coordinator.';
COMMENT ON COLUMN hosts.retry_at IS 'Not tried again before. Written by: coordinator.';
COMMENT ON COLUMN hosts.reason IS
    'Why the last attempt failed; null when none did. Written by: coordinator.';
COMMENT ON COLUMN hosts.silences IS
    'How often in a row it was given up because its address answered no agent; 0 again with an '
    'agent. Written by: coordinator.';
COMMENT ON COLUMN hosts.found_at IS 'When it was first seen. Written by: coordinator.';
COMMENT ON COLUMN hosts.found_by IS
    'Identifier of the agent that reported the first link to it; 0 for a seed. Written by: '
    'coordinator at ingestion.';
COMMENT ON COLUMN hosts.queued_day IS
    'Day (UTC) to which queued belongs; null before the first discovered URL. Written by: '
    'coordinator at ingestion.';
COMMENT ON COLUMN hosts.queued IS
    'Discovered URLs queued for it on that day. Written by: coordinator at ingestion.';
COMMENT ON COLUMN hosts.pages IS 'Documents ingested. Written by: coordinator at ingestion.';
COMMENT ON COLUMN hosts.fetches IS
    'Fetches reported, whatever their outcome. Written by: coordinator at ingestion.';
COMMENT ON COLUMN hosts.wire_bytes IS
    'Bytes of bodies as fetched. Written by: coordinator at ingestion.';
COMMENT ON COLUMN hosts.fetch_ms IS
    'Sum of the fetches'' times, in milliseconds. Written by: coordinator at ingestion.';

CREATE TABLE silent_addresses (
    address inet PRIMARY KEY,
    since   timestamptz NOT NULL
);
-- Old rows are deleted in this order.
CREATE INDEX silent_addresses_since ON silent_addresses (since);
COMMENT ON TABLE silent_addresses IS
    'Addresses that answered no agent of a search; another address of the subnet is probed in '
    'their place for a week. Grows with the searches of that time.';
COMMENT ON COLUMN silent_addresses.address IS
    'The address. Written by: coordinator; the row goes when the address answers, or '
    'after a week.';
COMMENT ON COLUMN silent_addresses.since IS
    'When a search last ended without an answer from it. Written by: coordinator.';

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
    'deletes the row. Grows with the hosts that move.';
COMMENT ON COLUMN stray_hosts.host IS 'HostId. Written by: coordinator at ingestion.';
COMMENT ON COLUMN stray_hosts.packages IS
    'Packages in a row with an address outside, at most one an hour; from 3 on the name is looked '
    'up again, which sets 0, or 2 where no name server answered. Written by: coordinator at '
    'ingestion, and follow_hosts.';
COMMENT ON COLUMN stray_hosts.counted_at IS
    'When a package last counted; after a lookup, the time from which packages count again. '
    'Written by: coordinator at ingestion, and follow_hosts.';

CREATE TABLE lost_hosts (
    host      bigint PRIMARY KEY REFERENCES hosts,
    lost_at   timestamptz NOT NULL,
    queued_to text NOT NULL DEFAULT '',
    agent     bigint
);
-- The next hosts of each agent. Hosts without an agent are not in it: there may be many that are
-- gone for good.
CREATE INDEX lost_hosts_next ON lost_hosts (agent, lost_at, host) WHERE agent IS NOT NULL;
COMMENT ON TABLE lost_hosts IS
    'Hosts that were freed without a bundle for their next agent. The leader queues their pages in '
    'its index for that agent; then the row goes. Grows with the hosts of agents that are lost.';
COMMENT ON COLUMN lost_hosts.host IS 'The host. Written by: coordinator.';
COMMENT ON COLUMN lost_hosts.lost_at IS 'When it was freed. Written by: coordinator.';
COMMENT ON COLUMN lost_hosts.queued_to IS
    'The last URL that was queued; empty before the first. Written by: coordinator.';
COMMENT ON COLUMN lost_hosts.agent IS
    'The next agent of the host, where it has the host by now; null while the host waits or moves, '
    'or is given up. Written by: coordinator, and a trigger on hosts.';
