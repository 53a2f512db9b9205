-- Hosts move from agent to agent without ever having two; slow pages, what was made of them, and the way back.

ALTER TABLE policy
    ADD COLUMN slowdown_percent integer NOT NULL DEFAULT 200 CHECK (slowdown_percent BETWEEN 110 AND 10000),
    ADD COLUMN slowdown_repeats smallint NOT NULL DEFAULT 3 CHECK (slowdown_repeats BETWEEN 1 AND 100),
    ADD COLUMN revisit_s        integer NOT NULL DEFAULT 604800 CHECK (revisit_s BETWEEN 0 AND 31536000),
    ADD COLUMN rest_s           integer NOT NULL DEFAULT 86400 CHECK (rest_s BETWEEN 1 AND 31536000),
    ADD COLUMN hearing_s        integer NOT NULL DEFAULT 3600 CHECK (hearing_s BETWEEN 1 AND 31536000);
COMMENT ON COLUMN policy.slowdown_percent IS 'How long a page must take to be reported as slower, in per cent of its usual time (IPMicra III.F). Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.slowdown_repeats IS 'How often in a row it must be slow to be reported. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.revisit_s IS 'Age at which an agent visits a page again, in seconds; 0 for never. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.rest_s IS 'Least time from one delegation of a subnet to a new search because its pages became slower, in seconds. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.hearing_s IS 'Reports of slower pages are weighed together over so long, and a former agent looks so often whether its way is as before, in seconds. Written by: coordinator for an admin.';

ALTER TABLE hosts
    DROP CONSTRAINT hosts_state_check,
    ADD CONSTRAINT hosts_state_check CHECK (state IN ('unresolved', 'resolved', 'delegated', 'moving', 'failed'));
COMMENT ON COLUMN hosts.state IS 'unresolved: no address yet; resolved: waits for its subnet''s agent; delegated: has an agent; moving: its agent shall let go of it and nothing more is routed there; failed: given up. Written by: coordinator.';
COMMENT ON COLUMN hosts.agent IS 'Who crawls it; while it is moving, who still may. Written by: coordinator with the delegation.';
COMMENT ON COLUMN routes.seq IS 'Position in the agent''s list, rising from 1, without gaps but for URLs that were taken back. Written by: coordinator.';

CREATE TABLE handovers (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host     bigint NOT NULL REFERENCES hosts,
    agent    bigint NOT NULL REFERENCES agents,
    next_agent     bigint REFERENCES agents,
    task     text NOT NULL CHECK (task IN ('release', 'settle')),
    asked_at timestamptz NOT NULL,
    ended_at timestamptz,
    ending   text CHECK (ending IN ('confirmed', 'lapsed', 'revoked', 'replaced')),
    confirmed_at timestamptz,
    CHECK ((ended_at IS NULL) = (ending IS NULL)),
    CHECK ((task = 'release') = (next_agent IS NOT NULL))
);
CREATE UNIQUE INDEX hand_overs_one_open ON handovers (host) WHERE ended_at IS NULL;
CREATE INDEX hand_overs_told ON handovers (agent, id) WHERE confirmed_at IS NULL;
CREATE INDEX hand_overs_host ON handovers (host, agent);
COMMENT ON TABLE handovers IS 'What agents are told to do with hosts they have, and whether they did; kept as history of who had a host.';
COMMENT ON COLUMN handovers.id IS 'Names the order in heartbeats.';
COMMENT ON COLUMN handovers.host IS 'Which host. Written by: coordinator.';
COMMENT ON COLUMN handovers.agent IS 'Who has it and is told. Written by: coordinator.';
COMMENT ON COLUMN handovers.next_agent IS 'Whom the delegation named when the order was made or last changed; the host goes to whoever has its subnet in the end. Null for settle. Written by: coordinator.';
COMMENT ON COLUMN handovers.task IS 'release: give the host up and hand back what was not fetched; settle: forget how fast its pages used to be. Written by: coordinator.';
COMMENT ON COLUMN handovers.asked_at IS 'When. Written by: coordinator.';
COMMENT ON COLUMN handovers.ended_at IS 'When the host was free for another agent, or the order over; null until then. Written by: coordinator.';
COMMENT ON COLUMN handovers.ending IS 'confirmed: the agent said that it is done; lapsed: the agent''s lease ended first; revoked: the agent was shut out; replaced: another order took its place. Written by: coordinator.';
COMMENT ON COLUMN handovers.confirmed_at IS 'From when on the agent is not told any more: it did what it was told, or will never be told again; null until then, also after its lease ended. Written by: coordinator.';

CREATE TABLE timing_reports (
    first   inet NOT NULL,
    last    inet NOT NULL,
    agent   bigint NOT NULL REFERENCES agents,
    usual   integer NOT NULL DEFAULT 0,
    slower  integer NOT NULL DEFAULT 0,
    ratio   double precision,
    url     text,
    timing_reports jsonb,
    heard_at timestamptz NOT NULL,
    PRIMARY KEY (first, last)
);
CREATE INDEX hearings_new ON timing_reports (heard_at) WHERE usual + slower > 0;
COMMENT ON TABLE timing_reports IS 'What agents told lately of how fast the pages of a subnet answer, weighed together.';
COMMENT ON COLUMN timing_reports.first IS 'First address of the subnet. Written by: coordinator.';
COMMENT ON COLUMN timing_reports.last IS 'Last address of the subnet. Written by: coordinator.';
COMMENT ON COLUMN timing_reports.agent IS 'Who tells; another agent''s word begins the counts anew. Written by: coordinator at integration.';
COMMENT ON COLUMN timing_reports.usual IS 'Fetches as fast as usual that were not weighed yet. Written by: coordinator at integration.';
COMMENT ON COLUMN timing_reports.slower IS 'Reports of slower pages that were not weighed yet. Written by: coordinator at integration.';
COMMENT ON COLUMN timing_reports.ratio IS 'Recent time over usual time of the page that was last reported slower. Written by: coordinator at integration.';
COMMENT ON COLUMN timing_reports.url IS 'That page. Written by: coordinator at integration.';
COMMENT ON COLUMN timing_reports.timing_reports IS 'What was weighed so far (delegation::calibration::TimingReports). Written by: coordinator.';
COMMENT ON COLUMN timing_reports.heard_at IS 'When something was last heard. Written by: coordinator at integration.';

CREATE TABLE calibrations (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    first        inet NOT NULL,
    last         inet NOT NULL,
    agent        bigint NOT NULL REFERENCES agents,
    delegation   bigint NOT NULL REFERENCES delegations,
    ratio        double precision NOT NULL,
    url          text,
    state        text NOT NULL CHECK (state IN ('checking', 'searching', 'away', 'returning',
                                                'server', 'stayed', 'returned', 'undecided', 'overtaken')),
    opened_at    timestamptz NOT NULL,
    control_probe      bigint REFERENCES agents,
    before_us    integer,
    now_us       integer,
    probe        bigint REFERENCES probes ON DELETE SET NULL,
    search       bigint REFERENCES searches,
    next_agent         bigint REFERENCES agents,
    moved_at     timestamptz,
    failback        jsonb,
    returned_at  timestamptz,
    changed_at   timestamptz NOT NULL,
    ended_at     timestamptz
);
CREATE UNIQUE INDEX calibrations_one_open ON calibrations (first, last) WHERE ended_at IS NULL;
CREATE INDEX calibrations_subnet ON calibrations (first, last, id);
COMMENT ON TABLE calibrations IS 'Subnets whose pages became slower (IPMicra III.F): what was found out, where the subnet went, and whether it came back. Ended ones are kept as history.';
COMMENT ON COLUMN calibrations.id IS 'Number of the case.';
COMMENT ON COLUMN calibrations.first IS 'First address of the subnet. Written by: coordinator.';
COMMENT ON COLUMN calibrations.last IS 'Last address of the subnet. Written by: coordinator.';
COMMENT ON COLUMN calibrations.agent IS 'Who reported slower pages. Written by: coordinator.';
COMMENT ON COLUMN calibrations.delegation IS 'The delegation that held then. Written by: coordinator.';
COMMENT ON COLUMN calibrations.ratio IS 'How many times as long as usual the page took that was reported last. Written by: coordinator.';
COMMENT ON COLUMN calibrations.url IS 'That page. Written by: coordinator.';
COMMENT ON COLUMN calibrations.state IS 'checking: a control_probe measures; searching: the way is slow and a search was opened; away: another agent has the subnet and the former one looks now and then; returning: its way is as before and a search was opened. Ended: server (the server itself is slow), stayed (the search found nobody nearer), returned, undecided (no control_probe could tell), overtaken (the delegation changed for another reason). Written by: coordinator.';
COMMENT ON COLUMN calibrations.opened_at IS 'When the suspicion arose. Written by: coordinator.';
COMMENT ON COLUMN calibrations.control_probe IS 'Who measures to tell a slow way from a slow server; the reporting agent itself where no other ever measured there. Written by: coordinator.';
COMMENT ON COLUMN calibrations.before_us IS 'What the control_probe measured when all was well, in microseconds. Written by: coordinator.';
COMMENT ON COLUMN calibrations.now_us IS 'What the control_probe measured now, in microseconds. Written by: coordinator.';
COMMENT ON COLUMN calibrations.probe IS 'The probe that is waited for: the control_probe''s, later the former agent''s. Written by: coordinator.';
COMMENT ON COLUMN calibrations.search IS 'The search that was opened last because of it. Written by: coordinator.';
COMMENT ON COLUMN calibrations.next_agent IS 'Who got the subnet. Written by: coordinator.';
COMMENT ON COLUMN calibrations.moved_at IS 'When. Written by: coordinator.';
COMMENT ON COLUMN calibrations.failback IS 'What is known of the way back (delegation::calibration::Failback). Written by: coordinator.';
COMMENT ON COLUMN calibrations.returned_at IS 'When the subnet went back to the former agent. Written by: coordinator.';
COMMENT ON COLUMN calibrations.changed_at IS 'When the state last changed. Written by: coordinator.';
COMMENT ON COLUMN calibrations.ended_at IS 'When the case was closed; null until then. Written by: coordinator.';
