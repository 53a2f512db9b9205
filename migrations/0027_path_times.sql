-- Round trips of paths: of new connections and of checks, compared with the usual ones.

ALTER TABLE timing_reports
    ADD COLUMN connect_us integer,
    ADD COLUMN connect_at timestamptz,
    ADD COLUMN path jsonb,
    ADD COLUMN check_at timestamptz,
    ADD COLUMN path_probe bigint;
COMMENT ON TABLE timing_reports IS
    'How fast the pages of a subnet answered recently and how long its path is, as its agent '
    'reports it. Grows with the subnets that are fetched from; one row a subnet.';
COMMENT ON COLUMN timing_reports.connect_us IS
    'Round trip of a new connection or of a check that was not compared yet, in microseconds; '
    'null when there is none. Written by: coordinator at ingestion or from a report.';
COMMENT ON COLUMN timing_reports.connect_at IS
    'When the last round trip came that was or will be compared; at most one an hour comes from '
    'fetches. Null before the first. Written by: coordinator at ingestion or from a report.';
COMMENT ON COLUMN timing_reports.path IS
    'The usual round trip (delegation::calibration::PathTimes); null before the first '
    'comparison. Written by: coordinator.';
COMMENT ON COLUMN timing_reports.check_at IS
    'When the agent measures the path if no fetch brings a round trip before; null when it does '
    'not, as before the first round trip. Written by: coordinator.';
COMMENT ON COLUMN timing_reports.path_probe IS
    'The probe that measures the path, until it is answered; null when none was ordered. '
    'Written by: coordinator.';
DROP INDEX timing_reports_new;
CREATE INDEX timing_reports_new ON timing_reports (reported_at)
    WHERE usual + slower > 0 OR connect_us IS NOT NULL;
-- The subnets of each agent whose paths are due.
CREATE INDEX timing_reports_due ON timing_reports (agent, check_at) WHERE check_at IS NOT NULL;
CREATE INDEX timing_reports_path_probe ON timing_reports (path_probe)
    WHERE path_probe IS NOT NULL;

ALTER TABLE probes DROP CONSTRAINT probes_purpose_check;
ALTER TABLE probes ADD CONSTRAINT probes_purpose_check
    CHECK (purpose IN ('search', 'landmark', 'check', 'home', 'path'));
COMMENT ON COLUMN probes.purpose IS
    'search: a step of a search; landmark: an agent measures a landmark; check: calibration '
    'measures an address; home: an agent measures the home address of another; path: the agent '
    'of a subnet measures its path, and the row is deleted once it is answered. Written by: '
    'coordinator.';
-- Rows to delete.
CREATE INDEX probes_path_ended ON probes (id) WHERE purpose = 'path' AND state <> 'asked';

ALTER TABLE incidents
    ADD COLUMN path_ratio double precision,
    ADD COLUMN controls smallint NOT NULL DEFAULT 0;
COMMENT ON TABLE incidents IS
    'Subnets whose paths or pages became slower: what was found out, where the subnet went, and '
    'whether it came back. Ended ones are kept as history. Grows with the incidents.';
COMMENT ON COLUMN incidents.ratio IS
    'How many times as long as usual the round trip took, or the page that was reported last. '
    'Written by: coordinator.';
COMMENT ON COLUMN incidents.url IS
    'That page; null when the round trip became longer. Written by: coordinator.';
COMMENT ON COLUMN incidents.path_ratio IS
    'Recent round trip of the agent over the usual one; null when that was not known. Written '
    'by: coordinator.';
COMMENT ON COLUMN incidents.controls IS
    'Control probes that were ordered. Written by: coordinator.';
