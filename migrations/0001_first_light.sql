-- First light: hierarchy, people, agents, searches, delegations, hosts, packages.
-- Every column says what it means and who writes it.

CREATE TABLE settings (
    name  text PRIMARY KEY,
    value jsonb NOT NULL
);
COMMENT ON TABLE settings IS 'Small facts of this installation.';
COMMENT ON COLUMN settings.name IS 'Which fact, e.g. token_secret. Written by: coordinator at first start.';
COMMENT ON COLUMN settings.value IS 'The fact. Written by: coordinator.';

CREATE TABLE generations (
    id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state      text NOT NULL CHECK (state IN ('loading', 'live', 'retired')),
    started_at timestamptz NOT NULL DEFAULT now(),
    live_at    timestamptz,
    subnets    integer NOT NULL DEFAULT 0,
    companies  integer NOT NULL DEFAULT 0,
    build_ms   bigint NOT NULL DEFAULT 0,
    sources    jsonb NOT NULL DEFAULT '[]'
);
CREATE UNIQUE INDEX generations_one_live ON generations (state) WHERE state = 'live';
COMMENT ON TABLE generations IS 'Loaded versions of the hierarchy. At most one is live.';
COMMENT ON COLUMN generations.id IS 'Number of the generation; rises with each load.';
COMMENT ON COLUMN generations.state IS 'loading: rows are being copied; live: in use; retired: replaced. Written by: rir-loader.';
COMMENT ON COLUMN generations.started_at IS 'When the load began. Written by: rir-loader.';
COMMENT ON COLUMN generations.live_at IS 'When it was swapped in. Written by: rir-loader.';
COMMENT ON COLUMN generations.subnets IS 'Number of its subnets, the roots included. Written by: rir-loader.';
COMMENT ON COLUMN generations.companies IS 'Number of its companies. Written by: rir-loader.';
COMMENT ON COLUMN generations.build_ms IS 'Milliseconds from the first byte read to the swap. Written by: rir-loader.';
COMMENT ON COLUMN generations.sources IS 'One object per file read: registry, file, serial, date, records. Written by: rir-loader.';

-- No foreign keys on companies and subnets: checked row by row they cost half of a load, and only a load writes here.
CREATE TABLE companies (
    generation integer NOT NULL,
    ordinal    integer NOT NULL,
    registry   text NOT NULL,
    handle     text NOT NULL,
    name       text,
    PRIMARY KEY (generation, ordinal)
);
COMMENT ON TABLE companies IS 'Who holds subnets, per generation; the swap that retires a generation for good deletes its rows.';
COMMENT ON COLUMN companies.generation IS 'The generation it belongs to. Written by: rir-loader.';
COMMENT ON COLUMN companies.ordinal IS 'CompanyId: position within the generation, from 0. Written by: rir-loader.';
COMMENT ON COLUMN companies.registry IS 'Registry whose identifier the handle is. Written by: rir-loader.';
COMMENT ON COLUMN companies.handle IS 'Opaque id or organisation handle, unique within the registry. Written by: rir-loader.';
COMMENT ON COLUMN companies.name IS 'Name where the source gives one. Written by: rir-loader.';

CREATE TABLE subnets (
    generation integer NOT NULL,
    ordinal    integer NOT NULL,
    parent     integer,
    first      inet NOT NULL,
    last       inet NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('root', 'block', 'delegated')),
    registry   text,
    company    integer,
    country    text,
    PRIMARY KEY (generation, ordinal)
);
COMMENT ON TABLE subnets IS 'The hierarchy: inclusive address ranges by containment, in pre-order, per generation; the swap that retires a generation for good deletes its rows.';
COMMENT ON COLUMN subnets.generation IS 'The generation it belongs to. Written by: rir-loader.';
COMMENT ON COLUMN subnets.ordinal IS 'SubnetId: position in pre-order, from 0; parents come before children. Written by: rir-loader.';
COMMENT ON COLUMN subnets.parent IS 'Ordinal of the smallest subnet around it; null for the two roots. Written by: rir-loader.';
COMMENT ON COLUMN subnets.first IS 'First address. Written by: rir-loader.';
COMMENT ON COLUMN subnets.last IS 'Last address, inclusive. Written by: rir-loader.';
COMMENT ON COLUMN subnets.kind IS 'root: all of v4 or v6; block: grouping of the hierarchy; delegated: a record of a registry. Written by: rir-loader.';
COMMENT ON COLUMN subnets.registry IS 'afrinic, apnic, arin, lacnic or ripencc; null where several meet. Written by: rir-loader.';
COMMENT ON COLUMN subnets.company IS 'Ordinal in companies; null when nobody is named. Written by: rir-loader.';
COMMENT ON COLUMN subnets.country IS 'Two letters as the registry gives them; null when absent. Written by: rir-loader.';

CREATE TABLE admins (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name          text NOT NULL UNIQUE,
    password_hash text NOT NULL,
    role          text NOT NULL DEFAULT 'admin' CHECK (role IN ('admin', 'viewer')),
    created_at    timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE admins IS 'People who may sign in.';
COMMENT ON COLUMN admins.id IS 'Number of the admin.';
COMMENT ON COLUMN admins.name IS 'Name to sign in with. Written by: coordinator.';
COMMENT ON COLUMN admins.password_hash IS 'Argon2id in PHC form. Written by: coordinator.';
COMMENT ON COLUMN admins.role IS 'admin may change things, viewer may look. Written by: coordinator.';
COMMENT ON COLUMN admins.created_at IS 'When. Written by: coordinator.';

CREATE TABLE admin_sessions (
    token_sha256 bytea PRIMARY KEY,
    admin        bigint NOT NULL REFERENCES admins ON DELETE CASCADE,
    created_at   timestamptz NOT NULL DEFAULT now(),
    seen_at      timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE admin_sessions IS 'Signed-in browsers.';
COMMENT ON COLUMN admin_sessions.token_sha256 IS 'SHA-256 of the cookie; the cookie itself is never stored. Written by: coordinator.';
COMMENT ON COLUMN admin_sessions.admin IS 'Who. Written by: coordinator.';
COMMENT ON COLUMN admin_sessions.created_at IS 'When signed in. Written by: coordinator.';
COMMENT ON COLUMN admin_sessions.seen_at IS 'Last use; the idle limit counts from here. Written by: coordinator.';

CREATE TABLE policy (
    id            boolean PRIMARY KEY DEFAULT true CHECK (id),
    threshold_us  integer NOT NULL DEFAULT 50000 CHECK (threshold_us BETWEEN 1 AND 60000000),
    patience_ms   integer NOT NULL DEFAULT 60000 CHECK (patience_ms BETWEEN 1000 AND 86400000),
    host_delay_ms integer NOT NULL DEFAULT 1000 CHECK (host_delay_ms BETWEEN 0 AND 3600000),
    pages_a_host  integer NOT NULL DEFAULT 10000 CHECK (pages_a_host > 0),
    depth         smallint NOT NULL DEFAULT 25 CHECK (depth BETWEEN 0 AND 255),
    changed_at    timestamptz NOT NULL DEFAULT now()
);
INSERT INTO policy DEFAULT VALUES;
COMMENT ON TABLE policy IS 'The operator''s settings that apply at once. One row.';
COMMENT ON COLUMN policy.id IS 'Always true: there is one row.';
COMMENT ON COLUMN policy.threshold_us IS 'Probing threshold in microseconds (IPMicra III.D). Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.patience_ms IS 'How long a search waits for one candidate, in milliseconds. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.host_delay_ms IS 'Least pause between two requests to a host, in milliseconds. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.pages_a_host IS 'Most pages of one host. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.depth IS 'Most links between a routed URL and a page. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.changed_at IS 'Last change. Written by: coordinator.';

CREATE TABLE audit (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      timestamptz NOT NULL DEFAULT now(),
    actor   text NOT NULL,
    action  text NOT NULL,
    subject text NOT NULL,
    detail  jsonb NOT NULL DEFAULT '{}'
);
COMMENT ON TABLE audit IS 'What people changed, for good.';
COMMENT ON COLUMN audit.id IS 'Order of the entries.';
COMMENT ON COLUMN audit.at IS 'When. Written by: coordinator.';
COMMENT ON COLUMN audit.actor IS 'Admin name, or coordinator. Written by: coordinator.';
COMMENT ON COLUMN audit.action IS 'What was done, e.g. agent.approve. Written by: coordinator.';
COMMENT ON COLUMN audit.subject IS 'To what, e.g. agt_12. Written by: coordinator.';
COMMENT ON COLUMN audit.detail IS 'Before and after where it matters. Written by: coordinator.';

CREATE TABLE agents (
    id                     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    public_key             bytea NOT NULL UNIQUE CHECK (length(public_key) = 32),
    state                  text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'paused', 'revoked')),
    name                   text NOT NULL,
    contact                text NOT NULL,
    version                text NOT NULL,
    protocol               smallint NOT NULL,
    capacity_pages_per_day integer NOT NULL,
    zone                   text NOT NULL,
    spans                  jsonb NOT NULL DEFAULT '[]',
    home                   inet NOT NULL,
    enrolled_at            timestamptz NOT NULL DEFAULT now(),
    approved_at            timestamptz,
    last_heartbeat_at           timestamptz,
    asleep_until           timestamptz,
    status                 jsonb,
    next_route             bigint NOT NULL DEFAULT 1
);
COMMENT ON TABLE agents IS 'Crawlers at partners.';
COMMENT ON COLUMN agents.id IS 'AgentId.';
COMMENT ON COLUMN agents.public_key IS 'Ed25519 public key: the identity. Written by: coordinator at enrolment.';
COMMENT ON COLUMN agents.state IS 'Where it stands with the operator. Written by: coordinator for an admin.';
COMMENT ON COLUMN agents.name IS 'Name given by the owner. Written by: coordinator at enrolment.';
COMMENT ON COLUMN agents.contact IS 'Where webmasters reach the owner. Written by: coordinator at enrolment.';
COMMENT ON COLUMN agents.version IS 'Version of its program. Written by: coordinator at enrolment.';
COMMENT ON COLUMN agents.protocol IS 'Protocol version it speaks. Written by: coordinator at each heartbeat.';
COMMENT ON COLUMN agents.capacity_pages_per_day IS 'Pages a day that the owner offers. Written by: coordinator at enrolment.';
COMMENT ON COLUMN agents.zone IS 'IANA time zone of the spans. Written by: coordinator at enrolment.';
COMMENT ON COLUMN agents.spans IS 'Spans as the owner wrote them. Written by: coordinator at enrolment.';
COMMENT ON COLUMN agents.home IS 'Home address: the source address seen at enrolment. Written by: coordinator.';
COMMENT ON COLUMN agents.enrolled_at IS 'When it first enrolled. Written by: coordinator.';
COMMENT ON COLUMN agents.approved_at IS 'When an admin approved it. Written by: coordinator.';
COMMENT ON COLUMN agents.last_heartbeat_at IS 'Last heartbeat. Written by: coordinator.';
COMMENT ON COLUMN agents.asleep_until IS 'End of the announced sleep; null when awake. Written by: coordinator at each heartbeat.';
COMMENT ON COLUMN agents.status IS 'WorkStatus of the last heartbeat. Written by: coordinator at each heartbeat.';
COMMENT ON COLUMN agents.next_route IS 'Number that the next route to this agent gets. Written by: coordinator when routing.';

CREATE TABLE join_tokens (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token_sha256 bytea NOT NULL UNIQUE,
    name         text NOT NULL,
    created_by   text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL,
    used_by      bigint REFERENCES agents,
    used_at      timestamptz
);
COMMENT ON TABLE join_tokens IS 'One-time tickets with which an owner enrols an agent.';
COMMENT ON COLUMN join_tokens.id IS 'Number of the token.';
COMMENT ON COLUMN join_tokens.token_sha256 IS 'SHA-256 of the token; the token itself is shown once and never stored. Written by: coordinator.';
COMMENT ON COLUMN join_tokens.name IS 'For whom it was made. Written by: coordinator for an admin.';
COMMENT ON COLUMN join_tokens.created_by IS 'Admin who made it. Written by: coordinator.';
COMMENT ON COLUMN join_tokens.created_at IS 'When. Written by: coordinator.';
COMMENT ON COLUMN join_tokens.expires_at IS 'Worthless from then on. Written by: coordinator.';
COMMENT ON COLUMN join_tokens.used_by IS 'Agent that enrolled with it; null while unused. Written by: coordinator.';
COMMENT ON COLUMN join_tokens.used_at IS 'When it was used. Written by: coordinator.';

CREATE TABLE searches (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    first        inet NOT NULL,
    last         inet NOT NULL,
    target       inet NOT NULL,
    target_host  text NOT NULL,
    target_port  integer NOT NULL,
    strategy     text NOT NULL,
    threshold_us integer NOT NULL,
    state        text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'decided')),
    opened_at    timestamptz NOT NULL DEFAULT now(),
    decided_at   timestamptz
);
CREATE UNIQUE INDEX searches_one_open ON searches (first, last) WHERE state = 'open';
COMMENT ON TABLE searches IS 'Searches for the agent that shall crawl a subnet (IPMicra III.E). The trail of a search is its probes.';
COMMENT ON COLUMN searches.id IS 'SearchId.';
COMMENT ON COLUMN searches.first IS 'First address of the subnet. Written by: coordinator.';
COMMENT ON COLUMN searches.last IS 'Last address of the subnet. Written by: coordinator.';
COMMENT ON COLUMN searches.target IS 'Address that candidates probe. Written by: coordinator.';
COMMENT ON COLUMN searches.target_host IS 'Authority of a web host at the target, for HEAD. Written by: coordinator.';
COMMENT ON COLUMN searches.target_port IS 'Port of that host. Written by: coordinator.';
COMMENT ON COLUMN searches.strategy IS 'threshold, for now. Written by: coordinator.';
COMMENT ON COLUMN searches.threshold_us IS 'Threshold when the search was opened, in microseconds. Written by: coordinator.';
COMMENT ON COLUMN searches.state IS 'open until an agent is chosen. Written by: coordinator.';
COMMENT ON COLUMN searches.opened_at IS 'When. Written by: coordinator.';
COMMENT ON COLUMN searches.decided_at IS 'When an agent was chosen. Written by: coordinator.';

CREATE TABLE probes (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    search      bigint NOT NULL REFERENCES searches,
    step        integer NOT NULL,
    agent       bigint NOT NULL REFERENCES agents,
    phase       text NOT NULL CHECK (phase IN ('company', 'sibling', 'sibling_child', 'rest')),
    level_first inet NOT NULL,
    level_last  inet NOT NULL,
    state       text NOT NULL DEFAULT 'asked' CHECK (state IN ('asked', 'measured', 'unreachable', 'refused', 'expired')),
    asked_at    timestamptz NOT NULL DEFAULT now(),
    answered_at timestamptz,
    method      text CHECK (method IN ('icmp', 'tcp', 'head')),
    rtt_us      integer,
    samples     smallint,
    reason      text,
    UNIQUE (search, step),
    UNIQUE (search, agent)
);
CREATE INDEX probes_asked ON probes (agent) WHERE state = 'asked';
COMMENT ON TABLE probes IS 'Round trips asked for and measured; kept for good, as the trail of each search.';
COMMENT ON COLUMN probes.id IS 'ProbeId.';
COMMENT ON COLUMN probes.search IS 'The search that asked. Written by: coordinator.';
COMMENT ON COLUMN probes.step IS 'Position in the search, from 1. Written by: coordinator.';
COMMENT ON COLUMN probes.agent IS 'Who was asked. Written by: coordinator.';
COMMENT ON COLUMN probes.phase IS 'Why this agent was a candidate: holds a subnet of the company, a sibling, something below a sibling; or (rest) nothing here, and nobody is left out. Written by: coordinator.';
COMMENT ON COLUMN probes.level_first IS 'First address of the subnet whose inside was searched at this step; the subnet itself in phase company. Written by: coordinator.';
COMMENT ON COLUMN probes.level_last IS 'Last address of that subnet. Written by: coordinator.';
COMMENT ON COLUMN probes.state IS 'asked until a report or the end of patience. Written by: coordinator.';
COMMENT ON COLUMN probes.asked_at IS 'When the order was made. Written by: coordinator.';
COMMENT ON COLUMN probes.answered_at IS 'When the report came, or patience ended. Written by: coordinator.';
COMMENT ON COLUMN probes.method IS 'How it was measured. Written by: coordinator from the report.';
COMMENT ON COLUMN probes.rtt_us IS 'Smallest round trip in microseconds. Written by: coordinator from the report.';
COMMENT ON COLUMN probes.samples IS 'Samples that came back. Written by: coordinator from the report.';
COMMENT ON COLUMN probes.reason IS 'Why there is no time. Written by: coordinator from the report.';

CREATE TABLE delegations (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    first       inet NOT NULL,
    last        inet NOT NULL,
    agent       bigint NOT NULL REFERENCES agents,
    generation  bigint NOT NULL,
    reason      text NOT NULL CHECK (reason IN ('home', 'company', 'threshold', 'lowest')),
    provisional boolean NOT NULL DEFAULT false,
    search      bigint REFERENCES searches,
    rtt_us      integer,
    decided_at  timestamptz NOT NULL DEFAULT now(),
    ended_at    timestamptz,
    fate        text CHECK (fate IN ('transferred', 'split', 'merged', 'vanished', 'same')),
    carried_from bigint REFERENCES delegations,
    UNIQUE (first, last, generation)
);
CREATE UNIQUE INDEX delegations_one_owner ON delegations (first, last) WHERE ended_at IS NULL;
CREATE INDEX delegations_agent ON delegations (agent) WHERE ended_at IS NULL;
COMMENT ON TABLE delegations IS 'Which agent crawls which subnet; ended ones are kept as history.';
COMMENT ON COLUMN delegations.id IS 'DelegationId.';
COMMENT ON COLUMN delegations.first IS 'First address of the subnet. Written by: coordinator.';
COMMENT ON COLUMN delegations.last IS 'Last address of the subnet. Written by: coordinator.';
COMMENT ON COLUMN delegations.agent IS 'Who crawls it. Written by: coordinator.';
COMMENT ON COLUMN delegations.generation IS 'Fencing number: 1 for the first delegation of a subnet, then one more each time. Written by: coordinator.';
COMMENT ON COLUMN delegations.reason IS 'home: the agent lives there; company: it serves the company and is fast enough; threshold: first fast enough; lowest: nobody fast enough. Written by: coordinator.';
COMMENT ON COLUMN delegations.provisional IS 'True when a better candidate may have been missed because it slept or did not answer. Written by: coordinator.';
COMMENT ON COLUMN delegations.search IS 'The search that led here; null for home. Written by: coordinator.';
COMMENT ON COLUMN delegations.rtt_us IS 'The agent''s measured round trip, in microseconds. Written by: coordinator.';
COMMENT ON COLUMN delegations.decided_at IS 'When. Written by: coordinator.';
COMMENT ON COLUMN delegations.fate IS 'What became of the range when a new generation of the hierarchy moved the delegation away; null otherwise. Written by: coordinator.';
COMMENT ON COLUMN delegations.carried_from IS 'The delegation that a new generation of the hierarchy moved here; null otherwise. Written by: coordinator.';
COMMENT ON COLUMN delegations.ended_at IS 'When another delegation took its place; null while it holds. Written by: coordinator.';

CREATE TABLE hosts (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scheme     text NOT NULL CHECK (scheme IN ('http', 'https')),
    authority  text NOT NULL,
    state      text NOT NULL DEFAULT 'unresolved' CHECK (state IN ('unresolved', 'resolved', 'delegated', 'failed')),
    address    inet,
    first      inet,
    last       inet,
    agent      bigint REFERENCES agents,
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
CREATE INDEX hosts_subnet ON hosts (first, last);
CREATE INDEX hosts_agent ON hosts (agent) WHERE agent IS NOT NULL;
COMMENT ON TABLE hosts IS 'Web hosts that were seen in a URL.';
COMMENT ON COLUMN hosts.id IS 'HostId.';
COMMENT ON COLUMN hosts.scheme IS 'http or https. Written by: coordinator.';
COMMENT ON COLUMN hosts.authority IS 'Host name or address, with the port where it is not the default. Written by: coordinator.';
COMMENT ON COLUMN hosts.state IS 'unresolved: no address yet; resolved: waits for its subnet''s agent; delegated: has an agent; failed: given up. Written by: coordinator.';
COMMENT ON COLUMN hosts.address IS 'Address by which its subnet is found. Written by: coordinator from DNS.';
COMMENT ON COLUMN hosts.first IS 'First address of its subnet. Written by: coordinator.';
COMMENT ON COLUMN hosts.last IS 'Last address of its subnet. Written by: coordinator.';
COMMENT ON COLUMN hosts.agent IS 'Who crawls it. Written by: coordinator with the delegation.';
COMMENT ON COLUMN hosts.attempts IS 'Failed resolutions in a row. Written by: coordinator.';
COMMENT ON COLUMN hosts.retry_at IS 'Not resolved again before. Written by: coordinator.';
COMMENT ON COLUMN hosts.reason IS 'Why it failed. Written by: coordinator.';
COMMENT ON COLUMN hosts.found_at IS 'When it was first seen. Written by: coordinator.';
COMMENT ON COLUMN hosts.pages IS 'Documents integrated. Written by: coordinator at integration.';
COMMENT ON COLUMN hosts.fetches IS 'Fetches reported, whatever their outcome. Written by: coordinator at integration.';
COMMENT ON COLUMN hosts.wire_bytes IS 'Bytes of bodies as fetched. Written by: coordinator at integration.';
COMMENT ON COLUMN hosts.fetch_ms IS 'Sum of the fetches'' times, in milliseconds. Written by: coordinator at integration.';

CREATE TABLE pending_urls (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host      bigint NOT NULL REFERENCES hosts,
    url       text NOT NULL,
    redirects smallint NOT NULL DEFAULT 0,
    UNIQUE (host, url)
);
COMMENT ON TABLE pending_urls IS 'URLs that wait until their host has an agent; a row goes when the URL is routed.';
COMMENT ON COLUMN pending_urls.id IS 'Order of arrival.';
COMMENT ON COLUMN pending_urls.host IS 'The URL''s host. Written by: coordinator.';
COMMENT ON COLUMN pending_urls.url IS 'Absolute, normalised URL. Written by: coordinator.';
COMMENT ON COLUMN pending_urls.redirects IS 'Redirects followed on the way here. Written by: coordinator.';

CREATE TABLE routes (
    agent     bigint NOT NULL REFERENCES agents,
    seq       bigint NOT NULL,
    url       text NOT NULL,
    redirects smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (agent, seq)
);
COMMENT ON TABLE routes IS 'URLs on their way to an agent; a row goes when the agent confirms that it stored the URL.';
COMMENT ON COLUMN routes.agent IS 'To whom. Written by: coordinator.';
COMMENT ON COLUMN routes.seq IS 'Position in the agent''s list, gapless from 1. Written by: coordinator.';
COMMENT ON COLUMN routes.url IS 'Absolute, normalised URL. Written by: coordinator.';
COMMENT ON COLUMN routes.redirects IS 'Redirects followed on the way here. Written by: coordinator.';

CREATE TABLE packages (
    agent         bigint NOT NULL REFERENCES agents,
    epoch         bigint NOT NULL CHECK (epoch >= 0),
    seq           bigint NOT NULL,
    sha256        bytea NOT NULL,
    object        text NOT NULL,
    bytes         bigint NOT NULL,
    plain_bytes   bigint NOT NULL,
    entries       integer NOT NULL,
    received_at   timestamptz NOT NULL DEFAULT now(),
    integrated_at timestamptz,
    integrations  smallint NOT NULL DEFAULT 0,
    pages         integer NOT NULL DEFAULT 0,
    fetches       integer NOT NULL DEFAULT 0,
    wire_bytes    bigint NOT NULL DEFAULT 0,
    refused       text,
    PRIMARY KEY (agent, epoch, seq)
);
CREATE INDEX packages_waiting ON packages (received_at) WHERE integrated_at IS NULL;
COMMENT ON TABLE packages IS 'Ledger of packages: each is integrated exactly once.';
COMMENT ON COLUMN packages.agent IS 'Who shipped it. Written by: coordinator.';
COMMENT ON COLUMN packages.epoch IS 'The agent''s store. Written by: coordinator from the signed header.';
COMMENT ON COLUMN packages.seq IS 'Number within the epoch, from 1. Written by: coordinator from the signed header.';
COMMENT ON COLUMN packages.sha256 IS 'SHA-256 of the whole package as received. Written by: coordinator.';
COMMENT ON COLUMN packages.object IS 'Its place in object storage. Written by: coordinator.';
COMMENT ON COLUMN packages.bytes IS 'Size as received, in bytes. Written by: coordinator.';
COMMENT ON COLUMN packages.plain_bytes IS 'Size of its body once inflated, in bytes. Written by: coordinator from the signed header.';
COMMENT ON COLUMN packages.entries IS 'Entries it holds. Written by: coordinator from the signed header.';
COMMENT ON COLUMN packages.received_at IS 'When its body and this row were stored. Written by: coordinator.';
COMMENT ON COLUMN packages.integrated_at IS 'When its pages were indexed and its links queued. Written by: coordinator at integration.';
COMMENT ON COLUMN packages.integrations IS 'How often it was integrated: 0, then 1 for ever. Written by: coordinator at integration.';
COMMENT ON COLUMN packages.pages IS 'Documents it brought. Written by: coordinator at integration.';
COMMENT ON COLUMN packages.fetches IS 'Fetches it reported. Written by: coordinator at integration.';
COMMENT ON COLUMN packages.wire_bytes IS 'Bytes of bodies that the agent fetched for it. Written by: coordinator at integration.';
COMMENT ON COLUMN packages.refused IS 'Why it could not be integrated though it was well signed; null otherwise. Written by: coordinator at integration.';
