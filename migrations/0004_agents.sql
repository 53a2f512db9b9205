-- Agents, their regions, and what admins and measurements say of them.

CREATE TABLE regions (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL UNIQUE,
    settings   jsonb NOT NULL,
    view       bytea NOT NULL,
    promises   bytea,
    lent_until timestamptz NOT NULL,
    formed_at  timestamptz NOT NULL
);
COMMENT ON TABLE regions IS
    'Regions. One row for each; once all agents have left, it is kept for history_days after the '
    'last loan. An operator deletes one that cannot be read any more.';
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

CREATE TABLE agents (
    id                     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    public_key             bytea NOT NULL UNIQUE CHECK (length(public_key) = 32),
    state                  text NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'approved', 'paused', 'revoked')),
    name                   text NOT NULL,
    contact                text NOT NULL,
    version                text NOT NULL,
    capacity_pages_per_day integer NOT NULL,
    zone                   text NOT NULL,
    spans                  jsonb NOT NULL DEFAULT '[]',
    place                  jsonb,
    home                   inet NOT NULL,
    home_since             timestamptz,
    source                 inet,
    source_since           timestamptz,
    source_until           timestamptz,
    enrolled_at            timestamptz NOT NULL DEFAULT now(),
    approved_at            timestamptz,
    leaving_at             timestamptz,
    left_at                timestamptz,
    freed_to               bigint,
    last_heartbeat_at      timestamptz,
    asleep_until           timestamptz,
    takes_probes           boolean NOT NULL DEFAULT true,
    status                 jsonb,
    next_route             bigint NOT NULL DEFAULT 1,
    peer_addresses         jsonb,
    region_label           text,
    region                 bigint REFERENCES regions ON DELETE SET NULL
);
COMMENT ON TABLE agents IS 'Crawlers at partners. One row an agent; rows are never deleted.';
COMMENT ON COLUMN agents.id IS 'AgentId.';
COMMENT ON COLUMN agents.public_key IS
    'Ed25519 public key: the identity. Written by: coordinator at enrolment.';
COMMENT ON COLUMN agents.state IS
    'What the admins decided about it. Written by: coordinator for an admin.';
COMMENT ON COLUMN agents.name IS
    'Name given by the owner. Written by: coordinator at enrolment, and when the agent starts.';
COMMENT ON COLUMN agents.contact IS
    'Where webmasters reach the owner. Written by: coordinator at enrolment, and when the agent '
    'starts.';
COMMENT ON COLUMN agents.version IS
    'Version of its program. Written by: coordinator at enrolment, and when the agent starts.';
COMMENT ON COLUMN agents.capacity_pages_per_day IS
    'Pages a day that the owner offers. Written by: coordinator at enrolment, and when the agent '
    'starts.';
COMMENT ON COLUMN agents.zone IS
    'IANA time zone of the spans. Written by: coordinator at enrolment, and when the agent starts.';
COMMENT ON COLUMN agents.spans IS
    'Spans as the owner wrote them. Written by: coordinator at enrolment, and when the agent '
    'starts.';
COMMENT ON COLUMN agents.place IS
    'Where its owner says it is, a PlaceClaim: latitude_mdeg and longitude_mdeg in thousandths of '
    'a degree, city and country where the owner named them. Null when the owner says nothing. '
    'Written by: coordinator at enrolment and at heartbeats.';
COMMENT ON COLUMN agents.home IS
    'Home address: the source address seen at enrolment, or the one from which its heartbeats came '
    'for a day. Written by: coordinator.';
COMMENT ON COLUMN agents.home_since IS
    'When its machine was moved to this home: what it measured before counts no more. Null where '
    'it never moved. Written by: coordinator.';
COMMENT ON COLUMN agents.source IS
    'Where its heartbeats come from, where that is not its home; null while they come from there. '
    'Written by: coordinator at each heartbeat.';
COMMENT ON COLUMN agents.source_since IS
    'When the first of them came; since then none came from elsewhere by the same protocol, IPv4 '
    'or IPv6. Null where source is. Written by: coordinator at each heartbeat.';
COMMENT ON COLUMN agents.source_until IS
    'When the last of them came. Null where source is. Written by: coordinator at each heartbeat.';
COMMENT ON COLUMN agents.enrolled_at IS 'When it first enrolled. Written by: coordinator.';
COMMENT ON COLUMN agents.approved_at IS
    'When an admin approved it; null before. Written by: coordinator.';
COMMENT ON COLUMN agents.leaving_at IS
    'When its owner ended it; it hands its hosts over from then on. Null otherwise. Written by: '
    'coordinator at the agent''s request.';
COMMENT ON COLUMN agents.left_at IS
    'When it had handed everything over and was deregistered; its state is revoked from then on. '
    'Null otherwise. Written by: coordinator at the agent''s request.';
COMMENT ON COLUMN agents.freed_to IS
    'While its hosts are taken from it: the last one that was, in the order of their numbers; 0 '
    'before the first. Null while it has its work, and when all are taken. Written by: coordinator '
    'when the agent is revoked or leaves, and by its task free_hosts.';
COMMENT ON COLUMN agents.last_heartbeat_at IS
    'Last heartbeat; null before the first. Written by: coordinator.';
COMMENT ON COLUMN agents.asleep_until IS
    'End of the announced sleep; null when awake. Written by: coordinator at each heartbeat.';
COMMENT ON COLUMN agents.takes_probes IS
    'Whether it carries out probe orders now. Written by: coordinator with each heartbeat.';
COMMENT ON COLUMN agents.status IS
    'WorkStatus of the last heartbeat; null before the first. Written by: coordinator at each '
    'heartbeat.';
COMMENT ON COLUMN agents.next_route IS
    'Number that the next route to this agent gets. Written by: coordinator when routing.';
COMMENT ON COLUMN agents.peer_addresses IS
    'Base URLs at which it listens for peers; null while its owner does not want it to be in a '
    'region. Written by: coordinator when the agent asks for its region.';
COMMENT ON COLUMN agents.region_label IS
    'Region that the owner asks for; null leaves it to the coordinator. Written by: coordinator '
    'when the agent asks for its region.';
COMMENT ON COLUMN agents.region IS
    'Region whose roster lists it, or listed it last; null if it never was in one. Written by: '
    'coordinator (form_regions).';

CREATE TABLE drains (
    agent        bigint PRIMARY KEY REFERENCES agents,
    requested_by text NOT NULL,
    requested_at timestamptz NOT NULL,
    deadline_at  timestamptz,
    subnets      bigint NOT NULL,
    hosts        bigint NOT NULL,
    drained_at   timestamptz
);
COMMENT ON TABLE drains IS
    'Agents that get no subnets and give away those they have. At most one row an agent; the row '
    'is deleted when an admin ends the drain or revokes the agent.';
COMMENT ON COLUMN drains.agent IS
    'The agent that is drained. Written by: coordinator for an admin.';
COMMENT ON COLUMN drains.requested_by IS
    'Admin who requested it. Written by: coordinator for an admin.';
COMMENT ON COLUMN drains.requested_at IS
    'When it was requested. Written by: coordinator for an admin.';
COMMENT ON COLUMN drains.deadline_at IS
    'From then on the subnets for which no other agent was found are taken from the agent, too; '
    'null: they stay until one is found. Written by: coordinator for an admin.';
COMMENT ON COLUMN drains.subnets IS
    'Subnets that the agent held when it was requested. Written by: coordinator for an admin.';
COMMENT ON COLUMN drains.hosts IS
    'Hosts that the agent had when it was requested. Written by: coordinator for an admin.';
COMMENT ON COLUMN drains.drained_at IS
    'When it had neither subnets nor hosts any more; null before. Written by: coordinator '
    '(drain_agents).';

CREATE TABLE home_times (
    agent       bigint NOT NULL REFERENCES agents,
    witness     bigint NOT NULL REFERENCES agents,
    home        inet NOT NULL,
    rtt_us      integer,
    measured_at timestamptz NOT NULL,
    PRIMARY KEY (agent, witness)
);
COMMENT ON TABLE home_times IS
    'What agents last measured to the home addresses of other agents. Reports of an agent must '
    'agree with them. It grows with the agents: some witnesses of each.';
COMMENT ON COLUMN home_times.agent IS
    'The agent whose home address it is. Written by: coordinator from the report.';
COMMENT ON COLUMN home_times.witness IS
    'The agent that measured. Written by: coordinator from the report.';
COMMENT ON COLUMN home_times.home IS
    'The address that was measured; another one counts for nothing once the agent has moved. '
    'Written by: coordinator from the order.';
COMMENT ON COLUMN home_times.rtt_us IS
    'Smallest round trip in microseconds; null when the address did not answer. Written by: '
    'coordinator from the report.';
COMMENT ON COLUMN home_times.measured_at IS 'When the report came. Written by: coordinator.';

CREATE TABLE agent_trust (
    agent     bigint PRIMARY KEY REFERENCES agents,
    tests     jsonb NOT NULL,
    evidence  jsonb NOT NULL DEFAULT '[]',
    paused_at timestamptz,
    finding   text,
    CONSTRAINT agent_trust_finding CHECK ((paused_at IS NULL) = (finding IS NULL))
);
COMMENT ON TABLE agent_trust IS
    'How far the reports of an agent can be believed. One row for each agent with judged reports.';
COMMENT ON COLUMN agent_trust.agent IS 'The agent. Written by: coordinator.';
COMMENT ON COLUMN agent_trust.tests IS
    'The sequential tests on its reports; null when an admin has reset them. Written by: '
    'coordinator when reports are judged.';
COMMENT ON COLUMN agent_trust.evidence IS
    'Its newest contradicted reports, at most 20, the newest last. Written by: coordinator when '
    'reports are judged.';
COMMENT ON COLUMN agent_trust.paused_at IS
    'When the coordinator paused the agent because of its reports; null otherwise. Written by: '
    'coordinator.';
COMMENT ON COLUMN agent_trust.finding IS
    'Why, as a sentence with the numbers; null otherwise. Written by: coordinator.';
