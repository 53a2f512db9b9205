-- Agents and the tokens with which they enrol.

CREATE TABLE agents (
    id                     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    public_key             bytea NOT NULL UNIQUE CHECK (length(public_key) = 32),
    state                  text NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'approved', 'paused', 'revoked')),
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
    last_heartbeat_at      timestamptz,
    asleep_until           timestamptz,
    status                 jsonb,
    next_route             bigint NOT NULL DEFAULT 1
);
COMMENT ON TABLE agents IS 'Crawlers at partners.';
COMMENT ON COLUMN agents.id IS 'AgentId.';
COMMENT ON COLUMN agents.public_key IS
    'Ed25519 public key: the identity. Written by: coordinator at enrolment.';
COMMENT ON COLUMN agents.state IS
    'What the admins decided about it. Written by: coordinator for an admin.';
COMMENT ON COLUMN agents.name IS 'Name given by the owner. Written by: coordinator at enrolment.';
COMMENT ON COLUMN agents.contact IS
    'Where webmasters reach the owner. Written by: coordinator at enrolment.';
COMMENT ON COLUMN agents.version IS 'Version of its program. Written by: coordinator at enrolment.';
COMMENT ON COLUMN agents.protocol IS
    'Protocol version it speaks. Written by: coordinator at each heartbeat.';
COMMENT ON COLUMN agents.capacity_pages_per_day IS
    'Pages a day that the owner offers. Written by: coordinator at enrolment.';
COMMENT ON COLUMN agents.zone IS
    'IANA time zone of the spans. Written by: coordinator at enrolment.';
COMMENT ON COLUMN agents.spans IS
    'Spans as the owner wrote them. Written by: coordinator at enrolment.';
COMMENT ON COLUMN agents.home IS
    'Home address: the source address seen at enrolment. Written by: coordinator.';
COMMENT ON COLUMN agents.enrolled_at IS 'When it first enrolled. Written by: coordinator.';
COMMENT ON COLUMN agents.approved_at IS
    'When an admin approved it; null before. Written by: coordinator.';
COMMENT ON COLUMN agents.last_heartbeat_at IS
    'Last heartbeat; null before the first. Written by: coordinator.';
COMMENT ON COLUMN agents.asleep_until IS
    'End of the announced sleep; null when awake. Written by: coordinator at each heartbeat.';
COMMENT ON COLUMN agents.status IS
    'WorkStatus of the last heartbeat; null before the first. Written by: coordinator at each '
    'heartbeat.';
COMMENT ON COLUMN agents.next_route IS
    'Number that the next route to this agent gets. Written by: coordinator when routing.';

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
COMMENT ON TABLE join_tokens IS 'One-time tokens with which an owner enrols an agent.';
COMMENT ON COLUMN join_tokens.id IS 'Number of the token.';
COMMENT ON COLUMN join_tokens.token_sha256 IS
    'SHA-256 of the token; the token itself is shown once and never stored. Written by: '
    'coordinator.';
COMMENT ON COLUMN join_tokens.name IS 'For whom it was made. Written by: coordinator for an admin.';
COMMENT ON COLUMN join_tokens.created_by IS 'Admin who made it. Written by: coordinator.';
COMMENT ON COLUMN join_tokens.created_at IS 'When it was made. Written by: coordinator.';
COMMENT ON COLUMN join_tokens.expires_at IS 'Worthless from then on. Written by: coordinator.';
COMMENT ON COLUMN join_tokens.used_by IS
    'Agent that enrolled with it; null while unused. Written by: coordinator.';
COMMENT ON COLUMN join_tokens.used_at IS
    'When it was used; null while unused. Written by: coordinator.';
