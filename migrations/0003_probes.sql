-- Probes for more than searches, landmarks, and what the predictive strategy is told.

ALTER TABLE policy
    ADD COLUMN strategy          text NOT NULL DEFAULT 'predictive' CHECK (strategy IN ('threshold', 'predictive')),
    ADD COLUMN parallel          integer NOT NULL DEFAULT 1 CHECK (parallel BETWEEN 1 AND 100),
    ADD COLUMN samples           smallint NOT NULL DEFAULT 3 CHECK (samples BETWEEN 1 AND 10),
    ADD COLUMN probes_per_agent  integer NOT NULL DEFAULT 20000 CHECK (probes_per_agent >= 1),
    ADD COLUMN probes_per_target integer NOT NULL DEFAULT 50 CHECK (probes_per_target >= 1),
    ADD COLUMN probes_in_all     bigint NOT NULL DEFAULT 1000000 CHECK (probes_in_all >= 1),
    ADD COLUMN landmarks         integer NOT NULL DEFAULT 1500 CHECK (landmarks BETWEEN 0 AND 10000),
    ADD COLUMN landmark_days     integer NOT NULL DEFAULT 7 CHECK (landmark_days BETWEEN 1 AND 365);
COMMENT ON COLUMN policy.strategy IS 'How searches opened from now on choose whom to ask: threshold (IPMicra III.E) or predictive. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.parallel IS 'How many agents a search may ask at the same time. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.samples IS 'Round trips measured for one probe; the smallest counts. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.probes_per_agent IS 'Most probes asked of one agent in a day (UTC). Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.probes_per_target IS 'Most probes sent into one subnet in a day (UTC). Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.probes_in_all IS 'Most probes asked of all agents together in a day (UTC). Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.landmarks IS 'Most landmarks; 0 for none, and then no search predicts. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.landmark_days IS 'Days after which an agent measures a landmark again. Written by: coordinator for an admin.';

CREATE TABLE landmarks (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    first      inet NOT NULL,
    last       inet NOT NULL,
    address    inet NOT NULL,
    host       text NOT NULL,
    port       integer NOT NULL,
    state      text NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'retired')),
    chosen_at  timestamptz NOT NULL DEFAULT now(),
    retired_at timestamptz,
    reason     text,
    CHECK ((state = 'retired') = (retired_at IS NOT NULL AND reason IS NOT NULL))
);
CREATE UNIQUE INDEX landmarks_one_live ON landmarks (first, last) WHERE state = 'live';
COMMENT ON TABLE landmarks IS 'Subnets that every agent measures now and then; the predictive strategy compares others with them.';
COMMENT ON COLUMN landmarks.id IS 'Number of the landmark.';
COMMENT ON COLUMN landmarks.first IS 'First address of the subnet it stands for. Written by: coordinator.';
COMMENT ON COLUMN landmarks.last IS 'Last address of that subnet. Written by: coordinator.';
COMMENT ON COLUMN landmarks.address IS 'The address that is probed. Written by: coordinator.';
COMMENT ON COLUMN landmarks.host IS 'Authority of a web host at that address, for HEAD. Written by: coordinator.';
COMMENT ON COLUMN landmarks.port IS 'Port of that host. Written by: coordinator.';
COMMENT ON COLUMN landmarks.state IS 'live: probed and used; retired: neither. Written by: coordinator.';
COMMENT ON COLUMN landmarks.chosen_at IS 'When it became a landmark. Written by: coordinator.';
COMMENT ON COLUMN landmarks.retired_at IS 'When it stopped being one. Written by: coordinator.';
COMMENT ON COLUMN landmarks.reason IS 'Why it was retired. Written by: coordinator.';

CREATE TABLE landmark_times (
    landmark    bigint NOT NULL REFERENCES landmarks,
    agent       bigint NOT NULL REFERENCES agents,
    home        inet NOT NULL,
    outcome     text NOT NULL CHECK (outcome IN ('measured', 'unreachable', 'refused')),
    rtt_us      integer,
    before_us   integer,
    measured_at timestamptz NOT NULL,
    PRIMARY KEY (landmark, agent),
    CHECK ((outcome = 'measured') = (rtt_us IS NOT NULL))
);
COMMENT ON TABLE landmark_times IS 'What each agent last measured at each landmark.';
COMMENT ON COLUMN landmark_times.landmark IS 'Which landmark. Written by: coordinator from the report.';
COMMENT ON COLUMN landmark_times.agent IS 'Who measured. Written by: coordinator from the report.';
COMMENT ON COLUMN landmark_times.home IS 'The agent''s home address when it measured; from another home it measures anew. Written by: coordinator.';
COMMENT ON COLUMN landmark_times.outcome IS 'What the report said. Written by: coordinator from the report.';
COMMENT ON COLUMN landmark_times.rtt_us IS 'Smallest round trip in microseconds; null when there was no answer. Written by: coordinator from the report.';
COMMENT ON COLUMN landmark_times.before_us IS 'The round trip known from the same home before, in microseconds; null when none was. Written by: coordinator.';
COMMENT ON COLUMN landmark_times.measured_at IS 'When the report came. Written by: coordinator.';

ALTER TABLE probes
    ALTER COLUMN search DROP NOT NULL,
    ALTER COLUMN step DROP NOT NULL,
    ALTER COLUMN phase DROP NOT NULL,
    ALTER COLUMN level_first DROP NOT NULL,
    ALTER COLUMN level_last DROP NOT NULL,
    ADD COLUMN purpose text NOT NULL DEFAULT 'search' CHECK (purpose IN ('search', 'landmark', 'check')),
    ADD COLUMN landmark bigint REFERENCES landmarks,
    ADD COLUMN target inet,
    ADD COLUMN target_host text,
    ADD COLUMN target_port integer,
    ADD COLUMN expected_us integer,
    ADD COLUMN deviation_us integer,
    ADD COLUMN chance real,
    DROP CONSTRAINT probes_phase_check,
    ADD CONSTRAINT probes_phase_check CHECK (phase IN ('company', 'sibling', 'sibling_child', 'rest', 'predicted')),
    ADD CONSTRAINT probes_place_in_search
        CHECK (num_nonnulls(search, step, phase, level_first, level_last) = CASE purpose WHEN 'search' THEN 5 ELSE 0 END),
    ADD CONSTRAINT probes_own_target
        CHECK (num_nonnulls(target, target_host, target_port) = CASE purpose WHEN 'search' THEN 0 ELSE 3 END),
    ADD CONSTRAINT probes_of_landmark CHECK ((purpose = 'landmark') = (landmark IS NOT NULL));
-- A landmark is asked for again only when the order before was answered or given up.
CREATE UNIQUE INDEX probes_landmark_asked ON probes (landmark, agent) WHERE state = 'asked' AND purpose = 'landmark';
-- The probes of a day are counted at each start; rows are written in the order of this column.
CREATE INDEX probes_by_day ON probes USING brin (asked_at);
COMMENT ON COLUMN probes.search IS 'The search that asked; null for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.step IS 'Position in the search, from 1; null for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.phase IS 'Why this agent was a candidate: holds a subnet of the company, a sibling, something below a sibling; (rest) nothing here, and nobody is left out; (predicted) it was the likeliest to be nearest. Null for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.level_first IS 'First address of the subnet whose inside was searched at this step; the subnet itself in phases company and predicted; null for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.level_last IS 'Last address of that subnet; null for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.purpose IS 'search: a step of a search; landmark: an agent measures a landmark; check: calibration measures an address. Written by: coordinator.';
COMMENT ON COLUMN probes.landmark IS 'The landmark that is measured; null for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.target IS 'Address that is probed; null for searches, which have their own. Written by: coordinator.';
COMMENT ON COLUMN probes.target_host IS 'Authority of a web host at that address, for HEAD; null for searches. Written by: coordinator.';
COMMENT ON COLUMN probes.target_port IS 'Port of that host; null for searches. Written by: coordinator.';
COMMENT ON COLUMN probes.expected_us IS 'Round trip that was expected when a predictive search asked, in microseconds; null otherwise. Written by: coordinator.';
COMMENT ON COLUMN probes.deviation_us IS 'Standard deviation of that expectation, in microseconds; null otherwise. Written by: coordinator.';
COMMENT ON COLUMN probes.chance IS 'Probability, when a predictive search asked, that this agent was the nearest of all (first step) or nearer than the best so far (later steps); null otherwise. Written by: coordinator.';

ALTER TABLE delegations
    DROP CONSTRAINT delegations_reason_check,
    ADD CONSTRAINT delegations_reason_check
        CHECK (reason IN ('home', 'company', 'threshold', 'lowest', 'predicted', 'pinned', 'balanced'));
COMMENT ON COLUMN delegations.reason IS 'home: the agent lives there; company: it serves the company and is fast enough; threshold: first fast enough; lowest: nobody fast enough; predicted: nobody else is likely enough to be nearer; pinned: an admin said so; balanced: the load was spread. Written by: coordinator.';

ALTER TABLE searches
    ADD COLUMN finding text CHECK (finding IN ('everywhere', 'several_places')),
    ADD COLUMN finding_detail text,
    ADD CONSTRAINT searches_finding_told CHECK ((finding IS NULL) = (finding_detail IS NULL));
COMMENT ON COLUMN searches.strategy IS 'threshold or predictive. Written by: coordinator.';
COMMENT ON COLUMN searches.finding IS 'What the probes showed of the subnet, null for nothing odd. everywhere: too near to agents that are far apart to be one place (anycast); several_places: its addresses cannot be in one place. Written by: coordinator.';
COMMENT ON COLUMN searches.finding_detail IS 'The measurements that show it, as one sentence; null without a finding. Written by: coordinator.';

CREATE TABLE silent_addresses (
    address inet PRIMARY KEY,
    since   timestamptz NOT NULL
);
COMMENT ON TABLE silent_addresses IS 'Addresses that answered no agent of a search; another address of the subnet is probed in their place for a while.';
COMMENT ON COLUMN silent_addresses.address IS 'The address. Written by: coordinator; the row goes when it answers.';
COMMENT ON COLUMN silent_addresses.since IS 'When a search last ended without an answer from it. Written by: coordinator.';

-- What other searches measured in the same subnet.
CREATE INDEX searches_subnet ON searches (first, last);
