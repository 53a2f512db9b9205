-- Delegation searches (IPMicra III.E), landmarks, and the probes that both ask for.

CREATE TABLE searches (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    first          inet NOT NULL,
    last           inet NOT NULL,
    target         inet NOT NULL,
    target_host    text NOT NULL,
    target_port    integer NOT NULL,
    strategy       text NOT NULL,
    threshold_us   integer NOT NULL,
    state          text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'decided')),
    opened_at      timestamptz NOT NULL DEFAULT now(),
    decided_at     timestamptz,
    finding        text CHECK (finding IN ('everywhere', 'several_places')),
    finding_detail text,
    skipped        jsonb NOT NULL DEFAULT '[]',
    CONSTRAINT searches_finding_has_detail CHECK ((finding IS NULL) = (finding_detail IS NULL))
);
CREATE UNIQUE INDEX searches_one_open ON searches (first, last) WHERE state = 'open';
-- Finds what other searches measured in the same subnet.
CREATE INDEX searches_subnet ON searches (first, last);
COMMENT ON TABLE searches IS
    'Searches for the agent that shall crawl a subnet. The trail of a search is its probes.';
COMMENT ON COLUMN searches.id IS 'SearchId.';
COMMENT ON COLUMN searches.first IS 'First address of the subnet. Written by: coordinator.';
COMMENT ON COLUMN searches.last IS
    'Last address of the subnet, inclusive. Written by: coordinator.';
COMMENT ON COLUMN searches.target IS 'Address that candidates probe. Written by: coordinator.';
COMMENT ON COLUMN searches.target_host IS
    'Authority of a web host at the target, for HEAD. Written by: coordinator.';
COMMENT ON COLUMN searches.target_port IS 'Port of that host. Written by: coordinator.';
COMMENT ON COLUMN searches.strategy IS 'threshold or predictive. Written by: coordinator.';
COMMENT ON COLUMN searches.threshold_us IS
    'Threshold when the search was opened, in microseconds. Written by: coordinator.';
COMMENT ON COLUMN searches.state IS 'open until an agent is chosen. Written by: coordinator.';
COMMENT ON COLUMN searches.opened_at IS 'When it was opened. Written by: coordinator.';
COMMENT ON COLUMN searches.decided_at IS
    'When an agent was chosen; null before. Written by: coordinator.';
COMMENT ON COLUMN searches.finding IS
    'What the probes showed of the subnet. everywhere: too near to agents that are far apart '
    'to be one place (anycast); several_places: its addresses cannot be in one place. Null '
    'for nothing irregular. Written by: coordinator.';
COMMENT ON COLUMN searches.finding_detail IS
    'The measurements that show it, as one sentence; null without a finding. Written by: '
    'coordinator.';
COMMENT ON COLUMN searches.skipped IS
    'Agents that were skipped when the search decided, each {agent, why}; why is asleep, '
    'unreachable, busy, excluded or budget. Written by: coordinator with the decision.';

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
COMMENT ON TABLE landmarks IS
    'Subnets that every agent measures periodically; the predictive strategy compares others '
    'with them.';
COMMENT ON COLUMN landmarks.id IS 'LandmarkId.';
COMMENT ON COLUMN landmarks.first IS
    'First address of the subnet it stands for. Written by: coordinator.';
COMMENT ON COLUMN landmarks.last IS
    'Last address of the subnet it stands for, inclusive. Written by: coordinator.';
COMMENT ON COLUMN landmarks.address IS 'The address that is probed. Written by: coordinator.';
COMMENT ON COLUMN landmarks.host IS
    'Authority of a web host at that address, for HEAD. Written by: coordinator.';
COMMENT ON COLUMN landmarks.port IS 'Port of that host. Written by: coordinator.';
COMMENT ON COLUMN landmarks.state IS
    'live: probed and used; retired: neither. Written by: coordinator.';
COMMENT ON COLUMN landmarks.chosen_at IS 'When it became a landmark. Written by: coordinator.';
COMMENT ON COLUMN landmarks.retired_at IS
    'When it stopped being one; null while live. Written by: coordinator.';
COMMENT ON COLUMN landmarks.reason IS
    'Why it was retired; null while live. Written by: coordinator.';

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
COMMENT ON COLUMN landmark_times.landmark IS
    'The landmark. Written by: coordinator from the report.';
COMMENT ON COLUMN landmark_times.agent IS
    'The agent that measured. Written by: coordinator from the report.';
COMMENT ON COLUMN landmark_times.home IS
    'The agent''s home address when it measured; from another home it measures anew. Written '
    'by: coordinator.';
COMMENT ON COLUMN landmark_times.outcome IS
    'What the report said. Written by: coordinator from the report.';
COMMENT ON COLUMN landmark_times.rtt_us IS
    'Smallest round trip in microseconds; null when there was no answer. Written by: '
    'coordinator from the report.';
COMMENT ON COLUMN landmark_times.before_us IS
    'The round trip known from the same home before, in microseconds; null when none was. '
    'Written by: coordinator.';
COMMENT ON COLUMN landmark_times.measured_at IS
    'When the report came. Written by: coordinator from the report.';

CREATE TABLE probes (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    purpose      text NOT NULL DEFAULT 'search'
        CHECK (purpose IN ('search', 'landmark', 'check')),
    search       bigint REFERENCES searches DEFERRABLE INITIALLY DEFERRED,
    step         integer,
    agent        bigint NOT NULL REFERENCES agents DEFERRABLE INITIALLY DEFERRED,
    phase        text
        CHECK (phase IN ('company', 'sibling', 'sibling_child', 'rest', 'predicted')),
    level_first  inet,
    level_last   inet,
    landmark     bigint REFERENCES landmarks,
    target       inet,
    target_host  text,
    target_port  integer,
    expected_us  integer,
    deviation_us integer,
    chance       real,
    state        text NOT NULL DEFAULT 'asked'
        CHECK (state IN ('asked', 'measured', 'unreachable', 'refused', 'expired')),
    asked_at     timestamptz NOT NULL DEFAULT now(),
    answered_at  timestamptz,
    method       text CHECK (method IN ('icmp', 'tcp', 'head')),
    rtt_us       integer,
    samples      smallint,
    reason       text,
    UNIQUE (search, step),
    UNIQUE (search, agent),
    CONSTRAINT probes_place_in_search CHECK (
        num_nonnulls(search, step, phase, level_first, level_last)
            = CASE purpose WHEN 'search' THEN 5 ELSE 0 END),
    CONSTRAINT probes_own_target CHECK (
        num_nonnulls(target, target_host, target_port)
            = CASE purpose WHEN 'search' THEN 0 ELSE 3 END),
    CONSTRAINT probes_of_landmark CHECK ((purpose = 'landmark') = (landmark IS NOT NULL))
);
CREATE INDEX probes_asked ON probes (agent) WHERE state = 'asked';
-- A landmark is asked for again only when the order before was answered or given up.
CREATE UNIQUE INDEX probes_landmark_asked ON probes (landmark, agent)
    WHERE state = 'asked' AND purpose = 'landmark';
-- The probes of a day are counted at each start; rows are written in the order of this column.
CREATE INDEX probes_by_day ON probes USING brin (asked_at);
COMMENT ON TABLE probes IS
    'Round trips asked for and measured. Those of searches are kept for good, as their '
    'trails.';
COMMENT ON COLUMN probes.id IS 'ProbeId.';
COMMENT ON COLUMN probes.purpose IS
    'search: a step of a search; landmark: an agent measures a landmark; check: calibration '
    'measures an address. Written by: coordinator.';
COMMENT ON COLUMN probes.search IS
    'The search that asked; null for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.step IS
    'Position in the search, from 1; null for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.agent IS 'The agent that was asked. Written by: coordinator.';
COMMENT ON COLUMN probes.phase IS
    'Why this agent was a candidate: it holds a subnet of the company, a sibling, something '
    'below a sibling; rest: nothing here, asked so that no agent is left out; predicted: it '
    'was the most likely to be nearest. Null for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.level_first IS
    'First address of the subnet whose inside was searched at this step; the subnet itself in '
    'phases company and predicted; null for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.level_last IS
    'Last address of that subnet; null for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.landmark IS
    'The landmark that is measured; null for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.target IS
    'Address that is probed; null for searches, which have their own. Written by: '
    'coordinator.';
COMMENT ON COLUMN probes.target_host IS
    'Authority of a web host at that address, for HEAD; null for searches. Written by: '
    'coordinator.';
COMMENT ON COLUMN probes.target_port IS
    'Port of that host; null for searches. Written by: coordinator.';
COMMENT ON COLUMN probes.expected_us IS
    'Round trip that was expected when a predictive search asked, in microseconds; null '
    'otherwise. Written by: coordinator.';
COMMENT ON COLUMN probes.deviation_us IS
    'Standard deviation of that expectation, in microseconds; null otherwise. Written by: '
    'coordinator.';
COMMENT ON COLUMN probes.chance IS
    'Probability, when a predictive search asked, that this agent was the nearest of all '
    '(first step) or nearer than the best so far (later steps); null otherwise. Written by: '
    'coordinator.';
COMMENT ON COLUMN probes.state IS
    'asked until a report or the end of patience. Written by: coordinator.';
COMMENT ON COLUMN probes.asked_at IS 'When the order was made. Written by: coordinator.';
COMMENT ON COLUMN probes.answered_at IS
    'When the report came, or patience ended; null before. Written by: coordinator.';
COMMENT ON COLUMN probes.method IS
    'How it was measured; null without a round trip. Written by: coordinator from the report.';
COMMENT ON COLUMN probes.rtt_us IS
    'Smallest round trip in microseconds; null without one. Written by: coordinator from the '
    'report.';
COMMENT ON COLUMN probes.samples IS
    'Samples that came back; null without a round trip. Written by: coordinator from the '
    'report.';
COMMENT ON COLUMN probes.reason IS
    'Why there is no round trip; null otherwise. Written by: coordinator from the report.';
