-- What happened over time, and between which agents and countries.

-- No foreign keys on partitioned tables: to drop a partition would lock the table they refer to.
CREATE TABLE activity (
    step          text NOT NULL CHECK (step IN ('minute', 'hour', 'day')),
    day           date NOT NULL,
    start         timestamptz NOT NULL,
    agent         bigint NOT NULL,
    pages         bigint NOT NULL DEFAULT 0,
    fetches       bigint NOT NULL DEFAULT 0,
    errors        bigint NOT NULL DEFAULT 0,
    fetched_bytes bigint NOT NULL DEFAULT 0,
    shipped_bytes bigint NOT NULL DEFAULT 0,
    timed_fetches bigint NOT NULL DEFAULT 0,
    round_trip_us bigint NOT NULL DEFAULT 0,
    probes        bigint NOT NULL DEFAULT 0,
    searches      bigint NOT NULL DEFAULT 0,
    queued        bigint,
    PRIMARY KEY (agent, step, start, day)
) PARTITION BY LIST (step);
CREATE TABLE activity_minutes PARTITION OF activity FOR VALUES IN ('minute')
    PARTITION BY RANGE (day);
CREATE TABLE activity_minutes_default PARTITION OF activity_minutes DEFAULT;
CREATE TABLE activity_hours PARTITION OF activity FOR VALUES IN ('hour');
CREATE TABLE activity_days PARTITION OF activity FOR VALUES IN ('day');
-- The rows of all agents from a time on, to be added up, and those that are old enough to go.
CREATE INDEX activity_start ON activity (step, start);
COMMENT ON TABLE activity IS
    'What each agent and all agents together did in each minute, hour and day. Grows with the '
    'agents and the time; partitions of old minutes are dropped, old hours and days are deleted.';
COMMENT ON TABLE activity_minutes IS
    'The minutes of activity. Grows with the agents and the minutes of three days.';
COMMENT ON TABLE activity_minutes_default IS
    'Minutes of days that have no partition. Empty unless a background task is late.';
COMMENT ON TABLE activity_hours IS
    'The hours of activity. Grows with the agents and the hours of 40 days.';
COMMENT ON TABLE activity_days IS
    'The days of activity. Grows with the agents and the days of two years.';
COMMENT ON COLUMN activity.step IS
    'Length of the time that the row is about. Written by: coordinator.';
COMMENT ON COLUMN activity.day IS 'Day (UTC) of its start. Written by: coordinator.';
COMMENT ON COLUMN activity.start IS
    'Begin of the minute, hour or day (UTC). Written by: coordinator.';
COMMENT ON COLUMN activity.agent IS
    'The agent; 0 for the sum of all agents. Written by: coordinator.';
COMMENT ON COLUMN activity.pages IS 'Documents ingested. Written by: coordinator at ingestion.';
COMMENT ON COLUMN activity.fetches IS
    'Fetches ingested, whatever their outcome. Written by: coordinator at ingestion.';
COMMENT ON COLUMN activity.errors IS
    'Fetches without a complete answer or with an HTTP error status. Written by: coordinator at '
    'ingestion.';
COMMENT ON COLUMN activity.fetched_bytes IS
    'Bytes of bodies as fetched. Written by: coordinator at ingestion.';
COMMENT ON COLUMN activity.shipped_bytes IS
    'Bytes of the packages that were ingested. Written by: coordinator at ingestion.';
COMMENT ON COLUMN activity.timed_fetches IS
    'Fetches whose round trip is known. Written by: coordinator at ingestion.';
COMMENT ON COLUMN activity.round_trip_us IS
    'Sum of their round trips in microseconds. Written by: coordinator at ingestion.';
COMMENT ON COLUMN activity.probes IS
    'Probe orders that the agent answered. Written by: coordinator at the report.';
COMMENT ON COLUMN activity.searches IS
    'Searches that ended with a delegation to the agent. Written by: coordinator with the '
    'decision.';
COMMENT ON COLUMN activity.queued IS
    'URLs that the agent knew and had not fetched at its last heartbeat of this time; null without '
    'a heartbeat. For all agents: the sum of their last heartbeats and the URLs that wait for an '
    'agent. Written by: coordinator at each heartbeat.';

CREATE TABLE agent_countries (
    agent         bigint NOT NULL REFERENCES agents,
    country       text NOT NULL,
    hosts         bigint NOT NULL DEFAULT 0,
    fetches       bigint NOT NULL DEFAULT 0,
    timed_fetches bigint NOT NULL DEFAULT 0,
    round_trip_us bigint NOT NULL DEFAULT 0,
    probes        bigint NOT NULL DEFAULT 0,
    probe_us      bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (agent, country)
);
COMMENT ON TABLE agent_countries IS
    'Fetches and probes of each agent by the country of the subnet, since the first one. Grows '
    'with the agents and the countries: some dozen rows an agent.';
COMMENT ON COLUMN agent_countries.agent IS
    'The agent that fetched or measured. Written by: coordinator.';
COMMENT ON COLUMN agent_countries.country IS
    'ISO 3166-1 country of the subnet, by the registry data of that time. Written by: coordinator.';
COMMENT ON COLUMN agent_countries.hosts IS
    'Hosts of the country that this agent fetched from before any other. Written by: coordinator '
    'at ingestion.';
COMMENT ON COLUMN agent_countries.fetches IS
    'Fetches ingested, whatever their outcome. Written by: coordinator at ingestion.';
COMMENT ON COLUMN agent_countries.timed_fetches IS
    'Fetches whose round trip is known. Written by: coordinator at ingestion.';
COMMENT ON COLUMN agent_countries.round_trip_us IS
    'Sum of their round trips in microseconds. Written by: coordinator at ingestion.';
COMMENT ON COLUMN agent_countries.probes IS
    'Probes that measured a round trip. Written by: coordinator at the report.';
COMMENT ON COLUMN agent_countries.probe_us IS
    'Sum of their round trips in microseconds. Written by: coordinator at the report.';
