-- What became of fetches: the last ones of each host, and errors by day.

CREATE TABLE host_fetches (
    host               bigint PRIMARY KEY REFERENCES hosts DEFERRABLE INITIALLY DEFERRED,
    agent              bigint NOT NULL REFERENCES agents DEFERRABLE INITIALLY DEFERRED,
    fetched_at         timestamptz NOT NULL,
    errors             bigint NOT NULL,
    disallowed         bigint NOT NULL,
    wire_bytes         bigint NOT NULL,
    mean_ms            bigint NOT NULL,
    recent             jsonb NOT NULL,
    answered_at        timestamptz,
    unanswered_since   timestamptz,
    unanswered_until   timestamptz,
    unanswered_fetches bigint NOT NULL DEFAULT 0,
    -- What counts is the time between two fetches: a host is not silent because nobody has tried.
    -- With long periods between revisits one failure proves as little, so that there must be three.
    is_silent          boolean NOT NULL GENERATED ALWAYS AS (
        coalesce(unanswered_until - unanswered_since >= interval '30 days', false)
            AND unanswered_fetches >= 3) STORED
);
-- One index for each order of the list of hosts. These columns are not in hosts, so that counting
-- fetches there touches no index.
CREATE INDEX host_fetches_errors ON host_fetches (errors DESC, host DESC) WHERE errors > 0;
CREATE INDEX host_fetches_disallowed ON host_fetches (disallowed DESC, host DESC)
    WHERE disallowed > 0;
CREATE INDEX host_fetches_bytes ON host_fetches (wire_bytes DESC, host DESC);
CREATE INDEX host_fetches_slow ON host_fetches (mean_ms DESC, host DESC);
-- The slowest hosts of an agent are read in their order. Without it each host of the agent is
-- looked up with its fetches, which lie anywhere on the disk.
CREATE INDEX host_fetches_slow_of_agent ON host_fetches (agent, mean_ms DESC, host DESC);
CREATE INDEX host_fetches_silent ON host_fetches (unanswered_since, host) WHERE is_silent;
COMMENT ON TABLE host_fetches IS
    'What became of the fetches from each host. Grows with the hosts that are fetched from.';
COMMENT ON COLUMN host_fetches.host IS 'The host. Written by: coordinator at ingestion.';
COMMENT ON COLUMN host_fetches.agent IS
    'The agent that reported last. Written by: coordinator at ingestion.';
COMMENT ON COLUMN host_fetches.fetched_at IS
    'Time of the last fetch, by the agent''s clock. Written by: coordinator at ingestion.';
COMMENT ON COLUMN host_fetches.errors IS
    'Fetches without a complete answer or with an HTTP error status. Written by: coordinator at '
    'ingestion.';
COMMENT ON COLUMN host_fetches.disallowed IS
    'URLs that robots rules forbid. Written by: coordinator at ingestion.';
COMMENT ON COLUMN host_fetches.wire_bytes IS
    'Bytes of bodies as fetched, as in hosts. Written by: coordinator at ingestion.';
COMMENT ON COLUMN host_fetches.mean_ms IS
    'Mean time of its fetches in milliseconds, from the sums in hosts. Written by: coordinator at '
    'ingestion.';
COMMENT ON COLUMN host_fetches.recent IS
    'Its last fetches with their outcomes, the newest first; a bounded number. Written by: '
    'coordinator at ingestion.';
COMMENT ON COLUMN host_fetches.answered_at IS
    'Time of the last fetch with an answer, by the agent''s clock; null before one is known. '
    'Written by: coordinator at ingestion.';
COMMENT ON COLUMN host_fetches.unanswered_since IS
    'Time of the first fetch without an answer after that; null where there is none. Written by: '
    'coordinator at ingestion.';
COMMENT ON COLUMN host_fetches.unanswered_until IS
    'Time of the last of these fetches; null where there is none. Written by: coordinator at '
    'ingestion.';
COMMENT ON COLUMN host_fetches.unanswered_fetches IS
    'Number of these fetches. Written by: coordinator at ingestion.';
COMMENT ON COLUMN host_fetches.is_silent IS
    'Whether searches leave the host out. Computed by the database.';

-- No foreign keys on partitioned tables: to drop a partition would lock the table they refer to.
CREATE TABLE error_days (
    host   bigint NOT NULL,
    day    date NOT NULL,
    kind   text NOT NULL,
    agent  bigint NOT NULL,
    errors bigint NOT NULL,
    url    text NOT NULL,
    detail text NOT NULL,
    at     timestamptz NOT NULL,
    PRIMARY KEY (host, day, kind)
) PARTITION BY RANGE (day);
CREATE TABLE error_days_default PARTITION OF error_days DEFAULT;
CREATE INDEX error_days_most ON error_days (day, errors DESC, host DESC, kind);
CREATE INDEX error_days_kind ON error_days (day, kind, errors DESC, host DESC);
CREATE INDEX error_days_agent ON error_days (day, agent, errors DESC, host DESC, kind);
COMMENT ON TABLE error_days IS
    'Errors of each host by day and kind, each with an example. Grows with the hosts that fail in '
    'a day; partitions of old days are dropped.';
COMMENT ON COLUMN error_days.host IS 'The host. Written by: coordinator at ingestion.';
COMMENT ON COLUMN error_days.day IS
    'Day (UTC) on which the package was ingested. Written by: coordinator at ingestion.';
COMMENT ON COLUMN error_days.kind IS 'ErrorKind. Written by: coordinator at ingestion.';
COMMENT ON COLUMN error_days.agent IS
    'The agent that reported last. Written by: coordinator at ingestion.';
COMMENT ON COLUMN error_days.errors IS 'Number of errors. Written by: coordinator at ingestion.';
COMMENT ON COLUMN error_days.url IS 'URL of the last error. Written by: coordinator at ingestion.';
COMMENT ON COLUMN error_days.detail IS
    'Reason or HTTP status of the last error. Written by: coordinator at ingestion.';
COMMENT ON COLUMN error_days.at IS
    'Time of the last error, by the agent''s clock. Written by: coordinator at ingestion.';

CREATE TABLE agent_error_days (
    agent  bigint NOT NULL REFERENCES agents,
    day    date NOT NULL,
    kind   text NOT NULL,
    errors bigint NOT NULL,
    PRIMARY KEY (day, agent, kind)
);
COMMENT ON TABLE agent_error_days IS
    'Errors that each agent reported, by day and kind. A few rows an agent and day; rows of old '
    'days are deleted.';
COMMENT ON COLUMN agent_error_days.agent IS
    'The agent that reported them. Written by: coordinator at ingestion.';
COMMENT ON COLUMN agent_error_days.day IS
    'Day of the ingestion (UTC). Written by: coordinator at ingestion.';
COMMENT ON COLUMN agent_error_days.kind IS 'ErrorKind. Written by: coordinator at ingestion.';
COMMENT ON COLUMN agent_error_days.errors IS
    'Number of errors. Written by: coordinator at ingestion.';
