-- People who sign in, tokens of scripts, and what people changed.

CREATE TABLE admins (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name          text NOT NULL UNIQUE,
    password_hash text NOT NULL,
    role          text NOT NULL DEFAULT 'admin' CHECK (role IN ('admin', 'viewer')),
    created_at    timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE admins IS 'People who may sign in. One row a person.';
COMMENT ON COLUMN admins.id IS 'Number of the admin.';
COMMENT ON COLUMN admins.name IS 'Login name. Written by: coordinator.';
COMMENT ON COLUMN admins.password_hash IS 'Argon2id in PHC form. Written by: coordinator.';
COMMENT ON COLUMN admins.role IS
    'admin may change things, viewer may look. Written by: coordinator.';
COMMENT ON COLUMN admins.created_at IS 'When the account was made. Written by: coordinator.';

CREATE TABLE admin_sessions (
    token_sha256 bytea PRIMARY KEY,
    admin        bigint NOT NULL REFERENCES admins ON DELETE CASCADE,
    created_at   timestamptz NOT NULL DEFAULT now(),
    seen_at      timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE admin_sessions IS 'Signed-in browsers. A few rows an admin.';
COMMENT ON COLUMN admin_sessions.token_sha256 IS
    'SHA-256 of the cookie; the cookie itself is never stored. Written by: coordinator.';
COMMENT ON COLUMN admin_sessions.admin IS 'The admin that is signed in. Written by: coordinator.';
COMMENT ON COLUMN admin_sessions.created_at IS 'Time of the sign-in. Written by: coordinator.';
COMMENT ON COLUMN admin_sessions.seen_at IS
    'Last use; the idle limit counts from here. Written by: coordinator.';

CREATE TABLE api_tokens (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token_sha256 bytea NOT NULL UNIQUE,
    name         text NOT NULL,
    scope        text NOT NULL CHECK (scope IN ('admin', 'viewer')),
    account      bigint NOT NULL REFERENCES admins ON DELETE CASCADE,
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz,
    used_at      timestamptz
);
CREATE INDEX api_tokens_account ON api_tokens (account);
COMMENT ON TABLE api_tokens IS
    'Tokens with which scripts use the API. Grows with what people make; removed when revoked.';
COMMENT ON COLUMN api_tokens.id IS 'ApiTokenId.';
COMMENT ON COLUMN api_tokens.token_sha256 IS
    'SHA-256 of the token; the token itself is shown once and never stored. Written by: '
    'coordinator.';
COMMENT ON COLUMN api_tokens.name IS 'What it is for. Written by: coordinator for a person.';
COMMENT ON COLUMN api_tokens.scope IS
    'Role of whoever presents it, at most that of the account. Written by: coordinator.';
COMMENT ON COLUMN api_tokens.account IS
    'Whose it is; it ends with the account. Written by: coordinator.';
COMMENT ON COLUMN api_tokens.created_at IS 'When it was made. Written by: coordinator.';
COMMENT ON COLUMN api_tokens.expires_at IS
    'Worthless from then on; null for never. Written by: coordinator.';
COMMENT ON COLUMN api_tokens.used_at IS
    'Last use, to the minute; null before the first. Written by: coordinator.';

CREATE TABLE audit (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      timestamptz NOT NULL DEFAULT now(),
    actor   text NOT NULL,
    action  text NOT NULL,
    subject text NOT NULL,
    detail  jsonb NOT NULL DEFAULT '{}'
);
-- The newest entries about a subject, which may be rare.
CREATE INDEX audit_subject ON audit (subject, id DESC);
-- The entries of a person, also by tokens, and of an action or a noun, which may be rare.
CREATE INDEX audit_actor ON audit (actor text_pattern_ops);
CREATE INDEX audit_action ON audit (action text_pattern_ops);
COMMENT ON TABLE audit IS
    'Changes that people made, and subnets that balance, drains, pins and regions moved; kept for '
    'good. Grows with both.';
COMMENT ON COLUMN audit.id IS 'Order of the entries.';
COMMENT ON COLUMN audit.at IS 'Time of the change. Written by: coordinator.';
COMMENT ON COLUMN audit.actor IS
    'Name of the admin, or coordinator, owner or partner. Written by: coordinator.';
COMMENT ON COLUMN audit.action IS 'Noun and verb, such as agent.approve. Written by: coordinator.';
COMMENT ON COLUMN audit.subject IS 'What was changed, such as agt_12. Written by: coordinator.';
COMMENT ON COLUMN audit.detail IS 'Before and after where it matters. Written by: coordinator.';
