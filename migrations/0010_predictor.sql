-- What the predictor learns beside probes, and the subnets that it found to be in several places.

CREATE TABLE round_trips (
    address     inet NOT NULL,
    agent       bigint NOT NULL REFERENCES agents,
    rtt_us      integer NOT NULL CHECK (rtt_us > 0),
    packages    integer NOT NULL DEFAULT 1,
    reported_at timestamptz NOT NULL,
    PRIMARY KEY (address, agent)
);
CREATE INDEX round_trips_reported_at ON round_trips (reported_at);
COMMENT ON TABLE round_trips IS
    'The shortest TCP round trip among an agent''s fetches from an address; the predictive '
    'strategy learns from them as it does from probes.';
COMMENT ON COLUMN round_trips.address IS
    'The address that was fetched from. Written by: coordinator at ingestion.';
COMMENT ON COLUMN round_trips.agent IS
    'The agent that fetched. Written by: coordinator at ingestion.';
COMMENT ON COLUMN round_trips.rtt_us IS
    'Time until TCP was established, in microseconds; the least of 90 days. Written by: '
    'coordinator at ingestion.';
COMMENT ON COLUMN round_trips.packages IS
    'Packages that reported it in that time. Written by: coordinator at ingestion.';
COMMENT ON COLUMN round_trips.reported_at IS
    'When the shortest was reported. Written by: coordinator at ingestion.';

CREATE TABLE subnet_splits (
    first       inet NOT NULL,
    last        inet NOT NULL,
    whole_first inet NOT NULL,
    whole_last  inet NOT NULL,
    search      bigint REFERENCES searches ON DELETE SET NULL,
    found_at    timestamptz NOT NULL,
    PRIMARY KEY (first, last)
);
CREATE INDEX subnet_splits_whole ON subnet_splits (whole_first, whole_last);
COMMENT ON TABLE subnet_splits IS
    'Pieces of subnets whose addresses are in different places. Each new generation has them '
    'as virtual subnets.';
COMMENT ON COLUMN subnet_splits.first IS 'First address of the piece. Written by: coordinator.';
COMMENT ON COLUMN subnet_splits.last IS 'Last address of the piece. Written by: coordinator.';
COMMENT ON COLUMN subnet_splits.whole_first IS
    'First address of the subnet that is split. Written by: coordinator.';
COMMENT ON COLUMN subnet_splits.whole_last IS 'Its last address. Written by: coordinator.';
COMMENT ON COLUMN subnet_splits.search IS
    'The search whose probes showed it; null where fetches did. Written by: coordinator.';
COMMENT ON COLUMN subnet_splits.found_at IS 'When it was found. Written by: coordinator.';
