-- Landmarks are dropped: subnets are predicted by places, and reports are judged by what agents
-- measure to each other's home addresses.

DELETE FROM probes WHERE purpose = 'landmark';
DROP INDEX probes_landmark_asked, probes_landmark_ended;
ALTER TABLE probes
    DROP CONSTRAINT probes_of_landmark,
    DROP CONSTRAINT probes_purpose_check,
    ADD CONSTRAINT probes_purpose_check CHECK (purpose IN ('search', 'check', 'home', 'path')),
    DROP COLUMN landmark;
COMMENT ON COLUMN probes.purpose IS
    'search: a step of a search; check: calibration measures an address; home: an agent measures '
    'the home address of another; path: an agent measures a path without fetches. Written by: '
    'coordinator.';
COMMENT ON TABLE probes IS
    'Round trips asked for and measured. Grows with the searches, whose probes are kept as long as '
    'they.';
DROP TABLE landmark_times;
DROP TABLE landmarks;
ALTER TABLE policy DROP COLUMN landmarks, DROP COLUMN landmark_days;
