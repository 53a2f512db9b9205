-- Slow pages and paths: what agents report, the incidents that come of it (IPMicra III.F), and the
-- round trips that show subnets in several places.

CREATE TABLE timing_reports (
    first             inet NOT NULL,
    last              inet NOT NULL,
    agent             bigint NOT NULL REFERENCES agents,
    usual             integer NOT NULL DEFAULT 0,
    slower            integer NOT NULL DEFAULT 0,
    ratio             double precision,
    url               text,
    summary           jsonb,
    connect_us        integer,
    connect_at        timestamptz,
    path              jsonb,
    check_at          timestamptz,
    path_probe        bigint,
    unanswered_checks smallint NOT NULL DEFAULT 0,
    reported_at       timestamptz NOT NULL,
    PRIMARY KEY (first, last)
);
-- What was not judged yet.
CREATE INDEX timing_reports_new ON timing_reports (reported_at)
    WHERE usual + slower > 0 OR connect_us IS NOT NULL;
-- The subnets of each agent whose paths are due.
CREATE INDEX timing_reports_due ON timing_reports (agent, check_at) WHERE check_at IS NOT NULL;
CREATE INDEX timing_reports_path_probe ON timing_reports (path_probe)
    WHERE path_probe IS NOT NULL;
COMMENT ON TABLE timing_reports IS
    'How fast the pages of a subnet answered recently and how long its path is, as its agent '
    'reports it. Grows with the subnets that are fetched from; one row a subnet.';
COMMENT ON COLUMN timing_reports.first IS 'First address of the subnet. Written by: coordinator.';
COMMENT ON COLUMN timing_reports.last IS
    'Last address of the subnet, inclusive. Written by: coordinator.';
COMMENT ON COLUMN timing_reports.agent IS
    'The agent that reports; a report of another agent begins the counts anew. Written by: '
    'coordinator at ingestion.';
COMMENT ON COLUMN timing_reports.usual IS
    'Fetches as fast as usual that were not judged yet. Written by: coordinator at ingestion.';
COMMENT ON COLUMN timing_reports.slower IS
    'Reports of slower pages that were not judged yet. Written by: coordinator at ingestion.';
COMMENT ON COLUMN timing_reports.ratio IS
    'Recent time over usual time of the page that was last reported slower; null before. Written '
    'by: coordinator at ingestion.';
COMMENT ON COLUMN timing_reports.url IS
    'That page; null before. Written by: coordinator at ingestion.';
COMMENT ON COLUMN timing_reports.summary IS
    'What was judged so far (delegation::calibration::TimingReports); null before. Written by: '
    'coordinator.';
COMMENT ON COLUMN timing_reports.connect_us IS
    'Round trip of a new connection or of a check that was not compared yet, in microseconds; null '
    'when there is none. Written by: coordinator at ingestion or from a report.';
COMMENT ON COLUMN timing_reports.connect_at IS
    'When the last round trip came that was or will be compared; at most one an hour comes from '
    'fetches. Null before the first. Written by: coordinator at ingestion or from a report.';
COMMENT ON COLUMN timing_reports.path IS
    'The usual round trip (delegation::calibration::PathTimes); null before the first comparison. '
    'Written by: coordinator.';
COMMENT ON COLUMN timing_reports.check_at IS
    'When the agent measures the path if no fetch brings a round trip before; null when it does '
    'not, as before the first round trip. Written by: coordinator.';
COMMENT ON COLUMN timing_reports.path_probe IS
    'The probe that measures the path, until it is answered; null when none was ordered. Written '
    'by: coordinator.';
COMMENT ON COLUMN timing_reports.unanswered_checks IS
    'Checks of the path that were ordered since its last round trip, at most two. Written by: '
    'coordinator.';
COMMENT ON COLUMN timing_reports.reported_at IS
    'When the last report came. Written by: coordinator at ingestion.';

CREATE TABLE incidents (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    first         inet NOT NULL,
    last          inet NOT NULL,
    agent         bigint NOT NULL REFERENCES agents,
    delegation    bigint NOT NULL REFERENCES delegations,
    ratio         double precision NOT NULL,
    path_ratio    double precision,
    url           text,
    state         text NOT NULL
        CHECK (state IN ('checking', 'searching', 'away', 'returning', 'server', 'stayed',
                         'returned', 'moved', 'undecided', 'overtaken')),
    opened_at     timestamptz NOT NULL,
    controls      smallint NOT NULL DEFAULT 0,
    control_probe bigint REFERENCES agents,
    before_us     integer,
    now_us        integer,
    probe         bigint REFERENCES probes ON DELETE SET NULL,
    search        bigint REFERENCES searches,
    next_agent    bigint REFERENCES agents,
    moved_at      timestamptz,
    failback      jsonb,
    returned_at   timestamptz,
    changed_at    timestamptz NOT NULL,
    ended_at      timestamptz
);
CREATE UNIQUE INDEX incidents_one_open ON incidents (first, last) WHERE ended_at IS NULL;
-- What refers to history that is deleted.
CREATE INDEX incidents_delegation ON incidents (delegation);
CREATE INDEX incidents_search ON incidents (search) WHERE search IS NOT NULL;
CREATE INDEX incidents_probe ON incidents (probe) WHERE probe IS NOT NULL;
COMMENT ON TABLE incidents IS
    'Subnets whose paths or pages became slower: what was found out, where the subnet went, and '
    'whether it came back. Ended ones are kept as history. Grows with the incidents.';
COMMENT ON COLUMN incidents.id IS 'Number of the incident.';
COMMENT ON COLUMN incidents.first IS 'First address of the subnet. Written by: coordinator.';
COMMENT ON COLUMN incidents.last IS
    'Last address of the subnet, inclusive. Written by: coordinator.';
COMMENT ON COLUMN incidents.agent IS
    'The agent that reported slower pages. Written by: coordinator.';
COMMENT ON COLUMN incidents.delegation IS 'The delegation that held then. Written by: coordinator.';
COMMENT ON COLUMN incidents.ratio IS
    'How many times as long as usual the round trip took, or the page that was reported last. '
    'Written by: coordinator.';
COMMENT ON COLUMN incidents.path_ratio IS
    'Recent round trip of the agent over the usual one; null when that was not known. Written by: '
    'coordinator.';
COMMENT ON COLUMN incidents.url IS
    'That page; null when the round trip became longer. Written by: coordinator.';
COMMENT ON COLUMN incidents.state IS
    'checking: a control probe measures; searching: the path is slow and a search was opened; '
    'away: another agent has the subnet and the former one measures periodically; returning: its '
    'path has recovered and a search was opened. Ended: server (the server itself is slow), stayed '
    '(the search found no nearer agent), returned, moved (the former agent has not been clearly '
    'nearer again for thirty days), undecided (nothing was measured that separates path from '
    'server or shows a nearer agent), overtaken (the delegation changed for another reason, or the '
    'former agent may not have the subnet any more). Written by: coordinator.';
COMMENT ON COLUMN incidents.opened_at IS 'When the suspicion arose. Written by: coordinator.';
COMMENT ON COLUMN incidents.controls IS
    'Control probes one after the other that were not withdrawn, with the awaited one. Written by: '
    'coordinator.';
COMMENT ON COLUMN incidents.control_probe IS
    'The agent that measures to separate a slow path from a slow server; the reporting agent '
    'itself where no other ever measured there. Null before one is chosen. Written by: '
    'coordinator.';
COMMENT ON COLUMN incidents.before_us IS
    'What that agent measured before the slowdown, in microseconds; null before it is chosen. '
    'Written by: coordinator.';
COMMENT ON COLUMN incidents.now_us IS
    'What it measured now, in microseconds; null before its report. Written by: coordinator.';
COMMENT ON COLUMN incidents.probe IS
    'The probe that is awaited: the control probe, later those of the former agent. Null while '
    'none is. Written by: coordinator.';
COMMENT ON COLUMN incidents.search IS
    'The search that was opened last because of it; null before. Written by: coordinator.';
COMMENT ON COLUMN incidents.next_agent IS
    'The agent that got the subnet; null while it stays. Written by: coordinator.';
COMMENT ON COLUMN incidents.moved_at IS
    'When the subnet moved; null while it stays. Written by: coordinator.';
COMMENT ON COLUMN incidents.failback IS
    'What is known of the path of the former agent (delegation::calibration::Failback); null '
    'before the subnet moves. Written by: coordinator.';
COMMENT ON COLUMN incidents.returned_at IS
    'When the subnet went back to the former agent; null before. Written by: coordinator.';
COMMENT ON COLUMN incidents.changed_at IS 'When the state last changed. Written by: coordinator.';
COMMENT ON COLUMN incidents.ended_at IS
    'When the incident was closed; null until then. Written by: coordinator.';

CREATE TABLE round_trips (
    address     inet NOT NULL,
    agent       bigint NOT NULL REFERENCES agents,
    rtt_us      integer NOT NULL CHECK (rtt_us > 0),
    packages    integer NOT NULL DEFAULT 1,
    counted_us  integer NOT NULL,
    counted_at  timestamptz NOT NULL,
    reported_at timestamptz NOT NULL,
    PRIMARY KEY (address, agent)
);
CREATE INDEX round_trips_agent ON round_trips (agent);
COMMENT ON TABLE round_trips IS
    'The shortest TCP round trip among an agent''s fetches from an address, which shows subnets '
    'that are in several places. Grows with the addresses that are fetched from.';
COMMENT ON COLUMN round_trips.address IS
    'The address that was fetched from. Written by: coordinator at ingestion.';
COMMENT ON COLUMN round_trips.agent IS
    'The agent that fetched. Written by: coordinator at ingestion.';
COMMENT ON COLUMN round_trips.rtt_us IS
    'Time until TCP was established, in microseconds; the least of 90 days. Written by: '
    'coordinator at ingestion.';
COMMENT ON COLUMN round_trips.packages IS
    'Packages that reported handshakes of their own, each an hour after the one before. Written '
    'by: coordinator at ingestion.';
COMMENT ON COLUMN round_trips.counted_us IS
    'The round trip of the package that counted last, in microseconds. Written by: coordinator at '
    'ingestion.';
COMMENT ON COLUMN round_trips.counted_at IS
    'When that package was reported. Written by: coordinator at ingestion.';
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
-- The newest split is asked for by a task.
CREATE INDEX subnet_splits_found_at ON subnet_splits (found_at);
CREATE INDEX subnet_splits_search ON subnet_splits (search) WHERE search IS NOT NULL;
COMMENT ON TABLE subnet_splits IS
    'Pieces of subnets whose addresses are in different places. Each new generation has them as '
    'virtual subnets. Grows with the subnets that are split.';
COMMENT ON COLUMN subnet_splits.first IS 'First address of the piece. Written by: coordinator.';
COMMENT ON COLUMN subnet_splits.last IS 'Last address of the piece. Written by: coordinator.';
COMMENT ON COLUMN subnet_splits.whole_first IS
    'First address of the subnet that is split. Written by: coordinator.';
COMMENT ON COLUMN subnet_splits.whole_last IS 'Its last address. Written by: coordinator.';
COMMENT ON COLUMN subnet_splits.search IS
    'The search whose probes showed it; null where fetches did. Written by: coordinator.';
COMMENT ON COLUMN subnet_splits.found_at IS 'When it was found. Written by: coordinator.';
