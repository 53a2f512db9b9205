-- How agents join: requests of partners, invitations, and tokens with which agents enrol.

CREATE TABLE join_tokens (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token_sha256 bytea NOT NULL UNIQUE,
    name         text NOT NULL,
    created_by   text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL,
    used_by      bigint REFERENCES agents,
    used_at      timestamptz,
    revoked_at   timestamptz,
    revoked_by   text
);
CREATE INDEX join_tokens_used_by ON join_tokens (used_by) WHERE used_by IS NOT NULL;
COMMENT ON TABLE join_tokens IS
    'One-time tokens with which an owner enrols an agent. One row an invitation.';
COMMENT ON COLUMN join_tokens.id IS 'Number of the token.';
COMMENT ON COLUMN join_tokens.token_sha256 IS
    'SHA-256 of the token; the token itself is shown once and never stored. Written by: '
    'coordinator.';
COMMENT ON COLUMN join_tokens.name IS 'For whom it was made. Written by: coordinator for an admin.';
COMMENT ON COLUMN join_tokens.created_by IS
    'Admin who made it, or who accepted the request that it comes from. Written by: coordinator.';
COMMENT ON COLUMN join_tokens.created_at IS 'When it was made. Written by: coordinator.';
COMMENT ON COLUMN join_tokens.expires_at IS 'Worthless from then on. Written by: coordinator.';
COMMENT ON COLUMN join_tokens.used_by IS
    'Agent that enrolled with it; null while unused. Written by: coordinator.';
COMMENT ON COLUMN join_tokens.used_at IS
    'When it was used; null while unused. Written by: coordinator.';
COMMENT ON COLUMN join_tokens.revoked_at IS
    'When an admin made it worthless; null if nobody did. Written by: coordinator.';
COMMENT ON COLUMN join_tokens.revoked_by IS
    'Admin who did; null if nobody did. Written by: coordinator.';

CREATE TABLE join_requests (
    id                    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state                 text NOT NULL DEFAULT 'waiting'
        CHECK (state IN ('waiting', 'accepted', 'declined')),
    name                  text NOT NULL,
    contact               text NOT NULL,
    place                 text NOT NULL,
    zone                  text NOT NULL,
    spans                 jsonb NOT NULL DEFAULT '[]',
    message               text NOT NULL,
    network               inet NOT NULL,
    created_at            timestamptz NOT NULL DEFAULT now(),
    decided_at            timestamptz,
    decided_by            text,
    invitation_sha256     bytea UNIQUE,
    invitation_expires_at timestamptz,
    opened_at             timestamptz,
    join_token            bigint REFERENCES join_tokens
);
CREATE INDEX join_requests_network ON join_requests (network, created_at);
CREATE INDEX join_requests_waiting ON join_requests (id) WHERE state = 'waiting';
CREATE INDEX join_requests_created_at ON join_requests (created_at);
COMMENT ON TABLE join_requests IS
    'Wishes to host an agent, from the public form. Strangers write here: few a network and hour, '
    'and a bounded number that waits. Rows older than 90 days are deleted with the next request.';
COMMENT ON COLUMN join_requests.id IS 'JoinRequestId.';
COMMENT ON COLUMN join_requests.state IS
    'JoinRequestState: what the admins decided. Written by: coordinator for an admin.';
COMMENT ON COLUMN join_requests.name IS
    'Person, organisation or machine, as the partner wrote it. Written by: coordinator.';
COMMENT ON COLUMN join_requests.contact IS
    'Mail address or web page of the partner. Written by: coordinator.';
COMMENT ON COLUMN join_requests.place IS
    'Where the machine is, as the partner wrote it; may be empty. Written by: coordinator.';
COMMENT ON COLUMN join_requests.zone IS 'IANA time zone of the spans. Written by: coordinator.';
COMMENT ON COLUMN join_requests.spans IS
    'Hours in which the agent may work; empty means always. Written by: coordinator.';
COMMENT ON COLUMN join_requests.message IS
    'What else the partner wrote; may be empty. Written by: coordinator.';
COMMENT ON COLUMN join_requests.network IS
    'IPv4 address or IPv6 /64 that the request came from; limits count by it. Written by: '
    'coordinator.';
COMMENT ON COLUMN join_requests.created_at IS 'When it arrived. Written by: coordinator.';
COMMENT ON COLUMN join_requests.decided_at IS
    'When an admin decided last; null before. Written by: coordinator.';
COMMENT ON COLUMN join_requests.decided_by IS
    'Admin who decided last; null before. Written by: coordinator.';
COMMENT ON COLUMN join_requests.invitation_sha256 IS
    'SHA-256 of the secret in the one-time link, which is never stored; null without one. Written '
    'by: coordinator.';
COMMENT ON COLUMN join_requests.invitation_expires_at IS
    'The link is worthless from then on. Written by: coordinator.';
COMMENT ON COLUMN join_requests.opened_at IS
    'When the link was used; null before. Written by: coordinator.';
COMMENT ON COLUMN join_requests.join_token IS
    'The token that the link made; null before. Written by: coordinator.';
