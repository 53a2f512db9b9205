-- Delegation searches (IPMicra III.E), and the probes that searches and others ask for.

CREATE TABLE searches (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    first          inet NOT NULL,
    last           inet NOT NULL,
    target         inet NOT NULL,
    target_host    text NOT NULL,
    target_port    integer NOT NULL,
    strategy       text NOT NULL,
    threshold_us   integer NOT NULL,
    state          text NOT NULL DEFAULT 'open'
        CHECK (state IN ('open', 'decided', 'unanswered')),
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
-- The newest decided searches in the order of their decisions, from which the predictor learns.
CREATE INDEX searches_decided ON searches (decided_at DESC, id DESC) WHERE state = 'decided';
-- Those that taught nothing, of which there may be as many; they are deleted in this order.
CREATE INDEX searches_unanswered ON searches (decided_at, id) WHERE state = 'unanswered';
COMMENT ON TABLE searches IS
    'Searches for the agent that shall crawl a subnet. The trail of a search is its probes. Grows '
    'with the subnets that have hosts; kept as long as the delegation that it decided.';
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
COMMENT ON COLUMN searches.state IS
    'open until it ends; unanswered: it ended because its target answered no agent; decided: it '
    'ended otherwise, as a rule because an agent was chosen. Written by: coordinator.';
COMMENT ON COLUMN searches.opened_at IS 'When it was opened. Written by: coordinator.';
COMMENT ON COLUMN searches.decided_at IS
    'When it ended; null before. Written by: coordinator.';
COMMENT ON COLUMN searches.finding IS
    'What the probes showed of the subnet. everywhere: too near to agents that are far apart to be '
    'one place (anycast); several_places: its addresses cannot be in one place. Null for nothing '
    'irregular. Written by: coordinator.';
COMMENT ON COLUMN searches.finding_detail IS
    'The measurements that show it, as one sentence; null without a finding. Written by: '
    'coordinator.';
COMMENT ON COLUMN searches.skipped IS
    'Agents that were skipped when the search decided, each {agent, why}; why is asleep, '
    'unreachable, absent, idle, busy, excluded, budget or drained. Written by: coordinator with '
    'the decision.';

CREATE TABLE probes (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    purpose      text NOT NULL DEFAULT 'search'
        CHECK (purpose IN ('search', 'check', 'home', 'path')),
    search       bigint REFERENCES searches DEFERRABLE INITIALLY DEFERRED,
    step         integer,
    agent        bigint NOT NULL REFERENCES agents DEFERRABLE INITIALLY DEFERRED,
    phase        text
        CHECK (phase IN ('company', 'sibling', 'sibling_child', 'rest', 'predicted', 'control')),
    level_first  inet,
    level_last   inet,
    home_of      bigint REFERENCES agents,
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
    CONSTRAINT probes_of_home CHECK ((purpose = 'home') = (home_of IS NOT NULL))
);
CREATE INDEX probes_asked ON probes (agent) WHERE state = 'asked';
-- A home address is measured again only when the order before was answered or given up.
CREATE UNIQUE INDEX probes_home_asked ON probes (home_of, agent)
    WHERE state = 'asked' AND purpose = 'home';
-- The probes of a day are counted at each start; rows are written in the order of this column.
CREATE INDEX probes_by_day ON probes USING brin (asked_at);
-- Ended probes that belong to no search, with which they would be deleted.
CREATE INDEX probes_path_ended ON probes (id) WHERE purpose = 'path' AND state <> 'asked';
CREATE INDEX probes_check_ended ON probes (asked_at)
    WHERE purpose IN ('check', 'home') AND state <> 'asked';
COMMENT ON TABLE probes IS
    'Round trips asked for and measured. Grows with the searches, whose probes are kept as long as '
    'they.';
COMMENT ON COLUMN probes.id IS 'ProbeId.';
COMMENT ON COLUMN probes.purpose IS
    'search: a step of a search; check: calibration measures an address; home: an agent measures '
    'the home address of another; path: an agent measures a path without fetches. Written by: '
    'coordinator.';
COMMENT ON COLUMN probes.search IS
    'The search that asked; null for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.step IS
    'Position in the search, from 1; null for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.agent IS 'The agent that was asked. Written by: coordinator.';
COMMENT ON COLUMN probes.phase IS
    'Why this agent was a candidate: it holds a subnet of the company, a sibling, something below '
    'a sibling; rest: nothing here, asked so that no agent is left out; predicted: it was the most '
    'likely to be nearest; control: it checks the report of the agent that was to be chosen. Null '
    'for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.level_first IS
    'First address of the subnet whose inside was searched at this step; the subnet itself in '
    'phases company and predicted; null for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.level_last IS
    'Last address of that subnet; null for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.home_of IS
    'The agent whose home address is measured; null for other purposes. Written by: coordinator.';
COMMENT ON COLUMN probes.target IS
    'Address that is probed; null for searches, which have their own. Written by: coordinator.';
COMMENT ON COLUMN probes.target_host IS
    'Authority of a web host at that address, for HEAD; null for searches. Written by: '
    'coordinator.';
COMMENT ON COLUMN probes.target_port IS
    'Port of that host; null for searches. Written by: coordinator.';
COMMENT ON COLUMN probes.expected_us IS
    'Round trip that was expected when a predictive search asked, in microseconds; null otherwise. '
    'Written by: coordinator.';
COMMENT ON COLUMN probes.deviation_us IS
    'Standard deviation of that expectation, in microseconds; null otherwise. Written by: '
    'coordinator.';
COMMENT ON COLUMN probes.chance IS
    'Probability, when a predictive search asked, that this agent was the nearest of all (first '
    'step) or nearer than the best so far (later steps); null otherwise. Written by: coordinator.';
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
    'Samples that came back; null without a round trip. Written by: coordinator from the report.';
COMMENT ON COLUMN probes.reason IS
    'Why there is no round trip; null otherwise. Written by: coordinator from the report.';
