-- Slow pages: what agents report, and the incidents that come of it (IPMicra III.F).

CREATE TABLE timing_reports (
    first       inet NOT NULL,
    last        inet NOT NULL,
    agent       bigint NOT NULL REFERENCES agents,
    usual       integer NOT NULL DEFAULT 0,
    slower      integer NOT NULL DEFAULT 0,
    ratio       double precision,
    url         text,
    summary     jsonb,
    reported_at timestamptz NOT NULL,
    PRIMARY KEY (first, last)
);
CREATE INDEX timing_reports_new ON timing_reports (reported_at) WHERE usual + slower > 0;
COMMENT ON TABLE timing_reports IS
    'How fast the pages of a subnet answered recently, as its agent reports it.';
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
    'Recent time over usual time of the page that was last reported slower; null before. '
    'Written by: coordinator at ingestion.';
COMMENT ON COLUMN timing_reports.url IS
    'That page; null before. Written by: coordinator at ingestion.';
COMMENT ON COLUMN timing_reports.summary IS
    'What was judged so far (delegation::calibration::TimingReports); null before. Written '
    'by: coordinator.';
COMMENT ON COLUMN timing_reports.reported_at IS
    'When the last report came. Written by: coordinator at ingestion.';

CREATE TABLE incidents (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    first         inet NOT NULL,
    last          inet NOT NULL,
    agent         bigint NOT NULL REFERENCES agents,
    delegation    bigint NOT NULL REFERENCES delegations,
    ratio         double precision NOT NULL,
    url           text,
    state         text NOT NULL
        CHECK (state IN ('checking', 'searching', 'away', 'returning', 'server', 'stayed',
                         'returned', 'undecided', 'overtaken')),
    opened_at     timestamptz NOT NULL,
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
CREATE INDEX incidents_subnet ON incidents (first, last, id);
COMMENT ON TABLE incidents IS
    'Subnets whose pages became slower: what was found out, where the subnet went, and '
    'whether it came back. Ended ones are kept as history.';
COMMENT ON COLUMN incidents.id IS 'Number of the incident.';
COMMENT ON COLUMN incidents.first IS 'First address of the subnet. Written by: coordinator.';
COMMENT ON COLUMN incidents.last IS
    'Last address of the subnet, inclusive. Written by: coordinator.';
COMMENT ON COLUMN incidents.agent IS
    'The agent that reported slower pages. Written by: coordinator.';
COMMENT ON COLUMN incidents.delegation IS 'The delegation that held then. Written by: coordinator.';
COMMENT ON COLUMN incidents.ratio IS
    'How many times as long as usual the page took that was reported last. Written by: '
    'coordinator.';
COMMENT ON COLUMN incidents.url IS 'That page. Written by: coordinator.';
COMMENT ON COLUMN incidents.state IS
    'checking: a control probe measures; searching: the path is slow and a search was opened; '
    'away: another agent has the subnet and the former one measures periodically; returning: '
    'its path has recovered and a search was opened. Ended: server (the server itself is '
    'slow), stayed (the search found no nearer agent), returned, undecided (no control probe '
    'could separate path from server), overtaken (the delegation changed for another reason). '
    'Written by: coordinator.';
COMMENT ON COLUMN incidents.opened_at IS 'When the suspicion arose. Written by: coordinator.';
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
    'The probe that is awaited: the control probe, later those of the former agent. Null '
    'while none is. Written by: coordinator.';
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
