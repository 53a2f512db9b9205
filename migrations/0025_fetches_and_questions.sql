-- What became of fetches: the last ones of each host, and errors by day; and questions to agents.

CREATE TABLE host_fetches (
    host       bigint PRIMARY KEY REFERENCES hosts DEFERRABLE INITIALLY DEFERRED,
    agent      bigint NOT NULL REFERENCES agents DEFERRABLE INITIALLY DEFERRED,
    fetched_at timestamptz NOT NULL,
    errors     bigint NOT NULL,
    disallowed bigint NOT NULL,
    wire_bytes bigint NOT NULL,
    mean_ms    bigint NOT NULL,
    recent     jsonb NOT NULL
);
-- One index for each order of the list of hosts. These columns are not in hosts, so that counting
-- fetches there touches no index.
CREATE INDEX host_fetches_errors ON host_fetches (errors DESC, host DESC) WHERE errors > 0;
CREATE INDEX host_fetches_disallowed ON host_fetches (disallowed DESC, host DESC)
    WHERE disallowed > 0;
CREATE INDEX host_fetches_bytes ON host_fetches (wire_bytes DESC, host DESC);
CREATE INDEX host_fetches_slow ON host_fetches (mean_ms DESC, host DESC);
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

-- Hosts that were fetched from before: their errors were not kept.
INSERT INTO host_fetches (host, agent, fetched_at, errors, disallowed, wire_bytes, mean_ms, recent)
SELECT id, agent, found_at, 0, 0, wire_bytes, fetch_ms / fetches, '[]'
FROM hosts WHERE fetches > 0 AND agent IS NOT NULL;

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

-- The hosts of a state, the newest first.
CREATE INDEX hosts_state ON hosts (state, id DESC);
-- Hosts found by their name.
CREATE INDEX hosts_authority ON hosts (authority text_pattern_ops);
-- The hosts of an agent, the newest first.
CREATE INDEX hosts_of_agent ON hosts (agent, id DESC) WHERE agent IS NOT NULL;
DROP INDEX hosts_agent;
-- Hosts found by their address.
CREATE INDEX hosts_address ON hosts (address) WHERE address IS NOT NULL;

CREATE TABLE url_questions (
    agent       bigint NOT NULL REFERENCES agents,
    url         text NOT NULL,
    asked_at    timestamptz NOT NULL,
    sent_at     timestamptz,
    answered_at timestamptz,
    answer      jsonb,
    PRIMARY KEY (agent, url)
);
CREATE INDEX url_questions_to_send ON url_questions (agent) WHERE sent_at IS NULL;
CREATE INDEX url_questions_asked_at ON url_questions (asked_at);
COMMENT ON TABLE url_questions IS
    'What people ask agents about URLs. Rows older than an hour are deleted with the next '
    'question: as many as people ask in an hour.';
COMMENT ON COLUMN url_questions.agent IS 'The agent that is asked. Written by: coordinator.';
COMMENT ON COLUMN url_questions.url IS
    'The URL that the question is about. Written by: coordinator for a person.';
COMMENT ON COLUMN url_questions.asked_at IS
    'When it was asked last. Written by: coordinator for a person.';
COMMENT ON COLUMN url_questions.sent_at IS
    'When it went to the agent with a heartbeat''s answer; null before. Written by: coordinator.';
COMMENT ON COLUMN url_questions.answered_at IS
    'When the agent answered last; null before. Written by: coordinator at a heartbeat.';
COMMENT ON COLUMN url_questions.answer IS
    'The last answer, a UrlStatus; null before. Written by: coordinator at a heartbeat.';
