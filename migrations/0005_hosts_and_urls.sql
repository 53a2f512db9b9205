-- Web hosts, the URLs that wait for an agent, and those on their way to one. Foreign keys of rows
-- that are written by the thousand are checked when their transaction ends: by then it can ask for
-- plans that are kept, where otherwise a plan would be made for each row.

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
    found_at   timestamptz NOT NULL DEFAULT now(),
    pages      bigint NOT NULL DEFAULT 0,
    fetches    bigint NOT NULL DEFAULT 0,
    wire_bytes bigint NOT NULL DEFAULT 0,
    fetch_ms   bigint NOT NULL DEFAULT 0,
    UNIQUE (scheme, authority)
);
CREATE INDEX hosts_unresolved ON hosts (retry_at) WHERE state = 'unresolved';
CREATE INDEX hosts_waiting ON hosts (id) WHERE state = 'resolved';
CREATE INDEX hosts_subnet ON hosts (first, last);
CREATE INDEX hosts_agent ON hosts (agent) WHERE agent IS NOT NULL;
COMMENT ON TABLE hosts IS 'Web hosts that were seen in a URL.';
COMMENT ON COLUMN hosts.id IS 'HostId.';
COMMENT ON COLUMN hosts.scheme IS 'http or https. Written by: coordinator.';
COMMENT ON COLUMN hosts.authority IS
    'Host name or address, with the port where it is not the default. Written by: '
    'coordinator.';
COMMENT ON COLUMN hosts.state IS
    'unresolved: no address yet; resolved: waits until its subnet has an agent; delegated: '
    'has an agent; moving: its agent was ordered to release it and nothing more is routed '
    'there; failed: given up. Written by: coordinator.';
COMMENT ON COLUMN hosts.address IS
    'Address by which its subnet is found; null until it is resolved. Written by: coordinator '
    'from DNS.';
COMMENT ON COLUMN hosts.first IS
    'First address of its subnet; null until it has one. Written by: coordinator.';
COMMENT ON COLUMN hosts.last IS
    'Last address of its subnet; null until it has one. Written by: coordinator.';
COMMENT ON COLUMN hosts.agent IS
    'The agent that crawls it; while it is moving, the agent that still may. Null while it '
    'has none. Written by: coordinator with the delegation.';
COMMENT ON COLUMN hosts.attempts IS
    'Resolutions, or searches for its subnet, that failed in a row. Written by: coordinator.';
COMMENT ON COLUMN hosts.retry_at IS 'Not tried again before. Written by: coordinator.';
COMMENT ON COLUMN hosts.reason IS
    'Why the last attempt failed; null when none did. Written by: coordinator.';
COMMENT ON COLUMN hosts.found_at IS 'When it was first seen. Written by: coordinator.';
COMMENT ON COLUMN hosts.pages IS 'Documents ingested. Written by: coordinator at ingestion.';
COMMENT ON COLUMN hosts.fetches IS
    'Fetches reported, whatever their outcome. Written by: coordinator at ingestion.';
COMMENT ON COLUMN hosts.wire_bytes IS
    'Bytes of bodies as fetched. Written by: coordinator at ingestion.';
COMMENT ON COLUMN hosts.fetch_ms IS
    'Sum of the fetches'' times, in milliseconds. Written by: coordinator at ingestion.';

CREATE TABLE pending_urls (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host      bigint NOT NULL REFERENCES hosts DEFERRABLE INITIALLY DEFERRED,
    url       text NOT NULL,
    redirects smallint NOT NULL DEFAULT 0,
    UNIQUE (host, url)
);
COMMENT ON TABLE pending_urls IS
    'URLs that wait until their host has an agent; a row goes when the URL is routed.';
COMMENT ON COLUMN pending_urls.id IS 'Order of arrival.';
COMMENT ON COLUMN pending_urls.host IS 'The URL''s host. Written by: coordinator.';
COMMENT ON COLUMN pending_urls.url IS 'Absolute, normalised URL. Written by: coordinator.';
COMMENT ON COLUMN pending_urls.redirects IS
    'Redirects followed on the way here. Written by: coordinator.';

CREATE TABLE routes (
    agent     bigint NOT NULL REFERENCES agents DEFERRABLE INITIALLY DEFERRED,
    seq       bigint NOT NULL,
    url       text NOT NULL,
    redirects smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (agent, seq)
);
COMMENT ON TABLE routes IS
    'URLs on their way to an agent; a row goes when the agent confirms that it stored the '
    'URL.';
COMMENT ON COLUMN routes.agent IS 'The agent that gets the URL. Written by: coordinator.';
COMMENT ON COLUMN routes.seq IS
    'Position in the agent''s list, rising from 1, without gaps but for URLs that were taken '
    'back. Written by: coordinator.';
COMMENT ON COLUMN routes.url IS 'Absolute, normalised URL. Written by: coordinator.';
COMMENT ON COLUMN routes.redirects IS
    'Redirects followed on the way here. Written by: coordinator.';

CREATE TABLE handovers (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host         bigint NOT NULL REFERENCES hosts,
    agent        bigint NOT NULL REFERENCES agents,
    next_agent   bigint REFERENCES agents,
    task         text NOT NULL CHECK (task IN ('release', 'settle')),
    asked_at     timestamptz NOT NULL,
    ended_at     timestamptz,
    ending       text
        CHECK (ending IN ('confirmed', 'lapsed', 'revoked', 'replaced')),
    confirmed_at timestamptz,
    CHECK ((ended_at IS NULL) = (ending IS NULL)),
    CHECK ((task = 'release') = (next_agent IS NOT NULL))
);
CREATE UNIQUE INDEX handovers_one_open ON handovers (host) WHERE ended_at IS NULL;
CREATE INDEX handovers_to_send ON handovers (agent, id) WHERE confirmed_at IS NULL;
CREATE INDEX handovers_host ON handovers (host, agent);
COMMENT ON TABLE handovers IS
    'Orders to agents about hosts that they have, and how they ended; kept as history of the '
    'agents of a host.';
COMMENT ON COLUMN handovers.id IS 'Names the order in heartbeats.';
COMMENT ON COLUMN handovers.host IS 'The host. Written by: coordinator.';
COMMENT ON COLUMN handovers.agent IS
    'The agent that has the host and gets the order. Written by: coordinator.';
COMMENT ON COLUMN handovers.next_agent IS
    'The agent that the delegation named when the order was made or last changed; in the end '
    'the host goes to the agent of its subnet. Null for settle. Written by: coordinator.';
COMMENT ON COLUMN handovers.task IS
    'release: give the host up and hand back what was not fetched; settle: forget how fast '
    'its pages used to be. Written by: coordinator.';
COMMENT ON COLUMN handovers.asked_at IS 'When the order was made. Written by: coordinator.';
COMMENT ON COLUMN handovers.ended_at IS
    'When the host was free for another agent, or the order over; null until then. Written '
    'by: coordinator.';
COMMENT ON COLUMN handovers.ending IS
    'confirmed: the agent reported that it is done; lapsed: the agent''s lease ended first; '
    'revoked: the agent was revoked; replaced: another order took its place. Null while the '
    'order is open. Written by: coordinator.';
COMMENT ON COLUMN handovers.confirmed_at IS
    'From when on the order is not sent any more: the agent carried it out, or will never ask '
    'again. Null until then, also after its lease ended. Written by: coordinator.';

CREATE TABLE silent_addresses (
    address inet PRIMARY KEY,
    since   timestamptz NOT NULL
);
COMMENT ON TABLE silent_addresses IS
    'Addresses that answered no agent of a search; another address of the subnet is probed in '
    'their place for a while.';
COMMENT ON COLUMN silent_addresses.address IS
    'The address. Written by: coordinator; the row goes when the address answers.';
COMMENT ON COLUMN silent_addresses.since IS
    'When a search last ended without an answer from it. Written by: coordinator.';

CREATE TABLE host_days (
    host    bigint NOT NULL REFERENCES hosts,
    day     date NOT NULL,
    fetches bigint NOT NULL,
    PRIMARY KEY (host, day)
);
CREATE INDEX host_days_day ON host_days (day);
COMMENT ON TABLE host_days IS
    'Fetches from each host on each of the last days: the measured load of subnets. Older '
    'rows are deleted.';
COMMENT ON COLUMN host_days.host IS 'The host. Written by: coordinator at ingestion.';
COMMENT ON COLUMN host_days.day IS
    'Day of the ingestion (UTC). Written by: coordinator at ingestion.';
COMMENT ON COLUMN host_days.fetches IS
    'Fetches reported, whatever their outcome. Written by: coordinator at ingestion.';
