-- Subnets that are not in one place are cut.

ALTER TABLE generations ADD COLUMN read_at timestamptz;
UPDATE generations SET read_at = live_at;
COMMENT ON COLUMN generations.read_at IS 'When the data was loaded from files; a generation that differs from the one before by cuts alone has its. Written by: rir-loader.';

CREATE TABLE cuts (
    first       inet NOT NULL,
    last        inet NOT NULL,
    whole_first inet NOT NULL,
    whole_last  inet NOT NULL,
    search      bigint REFERENCES searches ON DELETE SET NULL,
    found_at    timestamptz NOT NULL,
    PRIMARY KEY (first, last)
);
CREATE INDEX cuts_whole ON cuts (whole_first, whole_last);
COMMENT ON TABLE cuts IS 'Parts of subnets whose addresses were found to be in different places. Each new generation has them as virtual subnets.';
COMMENT ON COLUMN cuts.first IS 'First address of the part. Written by: coordinator.';
COMMENT ON COLUMN cuts.last IS 'Last address of the part. Written by: coordinator.';
COMMENT ON COLUMN cuts.whole_first IS 'First address of the subnet that is not in one place. Written by: coordinator.';
COMMENT ON COLUMN cuts.whole_last IS 'Its last address. Written by: coordinator.';
COMMENT ON COLUMN cuts.search IS 'The search whose probes showed it; null where fetches did. Written by: coordinator.';
COMMENT ON COLUMN cuts.found_at IS 'When that was. Written by: coordinator.';
