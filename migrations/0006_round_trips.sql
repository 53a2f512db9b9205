-- Fetches tell how far addresses are, too.

CREATE TABLE round_trips (
    address  inet NOT NULL,
    agent    bigint NOT NULL REFERENCES agents,
    rtt_us   integer NOT NULL CHECK (rtt_us > 0),
    packages integer NOT NULL DEFAULT 1,
    heard_at timestamptz NOT NULL,
    PRIMARY KEY (address, agent)
);
CREATE INDEX round_trips_heard_at ON round_trips (heard_at);
COMMENT ON TABLE round_trips IS 'The shortest TCP round trip among an agent''s fetches from an address; the predictive strategy learns from them as it does from probes.';
COMMENT ON COLUMN round_trips.address IS 'What was fetched from. Written by: coordinator at integration.';
COMMENT ON COLUMN round_trips.agent IS 'Who fetched. Written by: coordinator at integration.';
COMMENT ON COLUMN round_trips.rtt_us IS 'Until TCP stood, in microseconds; the least of 90 days. Written by: coordinator at integration.';
COMMENT ON COLUMN round_trips.packages IS 'Packages that told of it in that time. Written by: coordinator at integration.';
COMMENT ON COLUMN round_trips.heard_at IS 'When the shortest was told. Written by: coordinator at integration.';
