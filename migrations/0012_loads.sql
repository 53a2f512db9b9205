-- Loads are kept as they come: running sums by host, subnet and agent for each day, so that a run
-- of balance reads a few thousand rows. The tables by host and subnet are partitioned by day; a
-- background task makes the partitions ahead and drops those that no load includes any more.

-- No foreign keys on partitioned tables: to drop a partition would lock the table they refer to.
CREATE TABLE host_days (
    host    bigint NOT NULL,
    day     date NOT NULL,
    fetches bigint NOT NULL,
    PRIMARY KEY (host, day)
) PARTITION BY RANGE (day);
COMMENT ON TABLE host_days IS
    'Fetches from each host on each of the last days. They follow the host when a new generation '
    'puts it into another subnet. Grows with the hosts that are fetched from in a day; partitions '
    'of days that no load includes any more are dropped.';
COMMENT ON COLUMN host_days.host IS 'The host. Written by: coordinator at ingestion.';
COMMENT ON COLUMN host_days.day IS
    'Day (UTC) on which the package was received. Written by: coordinator at ingestion.';
COMMENT ON COLUMN host_days.fetches IS
    'Fetches, whatever their outcome. Written by: coordinator at ingestion.';
CREATE TABLE host_days_default PARTITION OF host_days DEFAULT;
COMMENT ON TABLE host_days_default IS
    'Days without a partition of their own; empty while the background task runs.';

CREATE TABLE subnet_days (
    first   inet NOT NULL,
    last    inet NOT NULL,
    day     date NOT NULL,
    fetches bigint NOT NULL,
    PRIMARY KEY (first, last, day)
) PARTITION BY RANGE (day);
COMMENT ON TABLE subnet_days IS
    'Fetches from the hosts of each subnet on each of the last days: the measured load of subnets. '
    'Grows with the subnets that are fetched from in a day; partitions of days that no load '
    'includes any more are dropped.';
COMMENT ON COLUMN subnet_days.first IS 'First address of the subnet. Written by: coordinator.';
COMMENT ON COLUMN subnet_days.last IS
    'Last address of the subnet, inclusive. Written by: coordinator.';
COMMENT ON COLUMN subnet_days.day IS
    'Day (UTC) on which the package was received. Written by: coordinator at ingestion.';
COMMENT ON COLUMN subnet_days.fetches IS
    'Fetches, whatever their outcome. Written by: coordinator at ingestion.';
CREATE TABLE subnet_days_default PARTITION OF subnet_days DEFAULT;
COMMENT ON TABLE subnet_days_default IS
    'Days without a partition of their own; empty while the background task runs.';

CREATE TABLE agent_days (
    agent   bigint NOT NULL REFERENCES agents,
    day     date NOT NULL,
    fetches bigint NOT NULL,
    PRIMARY KEY (agent, day)
);
COMMENT ON TABLE agent_days IS
    'Fetches on each of the last days from the subnets that each agent holds now: the measured '
    'load of agents. A delegation brings the days of its subnet along. At most eight rows an '
    'agent.';
COMMENT ON COLUMN agent_days.agent IS
    'The agent that holds the subnets now. Written by: coordinator at ingestion, and the trigger '
    'on delegations.';
COMMENT ON COLUMN agent_days.day IS
    'Day (UTC) on which the package was received. Written by: coordinator at ingestion.';
COMMENT ON COLUMN agent_days.fetches IS
    'Sum of subnet_days over the subnets. Written by: coordinator at ingestion, and the trigger on '
    'delegations.';

CREATE TABLE agent_hours (
    agent   bigint NOT NULL REFERENCES agents,
    hour    timestamptz NOT NULL,
    fetches bigint NOT NULL,
    PRIMARY KEY (agent, hour)
);
COMMENT ON TABLE agent_hours IS
    'Fetches in the packages of each agent, by hour of ingestion: what it delivers. The first hour '
    'of an agent is kept, others for eight days: less than two hundred rows an agent.';
COMMENT ON COLUMN agent_hours.agent IS 'The agent that delivered. Written by: coordinator.';
COMMENT ON COLUMN agent_hours.hour IS 'Start of the hour. Written by: coordinator at ingestion.';
COMMENT ON COLUMN agent_hours.fetches IS
    'Fetches, whatever their outcome. Written by: coordinator at ingestion.';

-- The days of a subnet go from the agent whose delegation ends to the one whose delegation begins.
CREATE FUNCTION add_days_of_delegations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO agent_days AS a (agent, day, fetches)
    SELECT n.agent, s.day, sum(s.fetches)
    FROM begun n JOIN subnet_days s ON s.first = n.first AND s.last = n.last
    WHERE n.ended_at IS NULL
    GROUP BY n.agent, s.day ORDER BY n.agent, s.day
    ON CONFLICT (agent, day) DO UPDATE SET fetches = a.fetches + excluded.fetches;
    RETURN NULL;
END $$;
CREATE TRIGGER delegations_add_days AFTER INSERT ON delegations
    REFERENCING NEW TABLE AS begun
    FOR EACH STATEMENT EXECUTE FUNCTION add_days_of_delegations();

CREATE FUNCTION take_days_of_delegations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO agent_days AS a (agent, day, fetches)
    SELECT n.agent, s.day, -sum(s.fetches)
    FROM before b JOIN after n ON n.id = b.id
    JOIN subnet_days s ON s.first = n.first AND s.last = n.last
    WHERE b.ended_at IS NULL AND n.ended_at IS NOT NULL
    GROUP BY n.agent, s.day ORDER BY n.agent, s.day
    ON CONFLICT (agent, day) DO UPDATE SET fetches = a.fetches + excluded.fetches;
    RETURN NULL;
END $$;
CREATE TRIGGER delegations_take_days AFTER UPDATE ON delegations
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION take_days_of_delegations();
