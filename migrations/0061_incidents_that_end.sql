-- Incidents whose subnet stays where it moved, and checks of paths that do not answer.

ALTER TABLE incidents DROP CONSTRAINT incidents_state_check;
ALTER TABLE incidents ADD CONSTRAINT incidents_state_check
    CHECK (state IN ('checking', 'searching', 'away', 'returning', 'server', 'stayed', 'returned',
                     'moved', 'undecided', 'overtaken'));
COMMENT ON COLUMN incidents.state IS
    'checking: a control probe measures; searching: the path is slow and a search was opened; '
    'away: another agent has the subnet and the former one measures periodically; returning: '
    'its path has recovered and a search was opened. Ended: server (the server itself is '
    'slow), stayed (the search found no nearer agent), returned, moved (the former agent has '
    'not been clearly nearer again for thirty days), undecided (nothing was measured that '
    'separates path from server or shows a nearer agent), overtaken (the delegation changed for '
    'another reason, or the former agent may not have the subnet any more). Written by: '
    'coordinator.';

ALTER TABLE timing_reports ADD COLUMN unanswered_checks smallint NOT NULL DEFAULT 0;
COMMENT ON COLUMN timing_reports.unanswered_checks IS
    'Checks of the path that were ordered since its last round trip, at most two. Written by: '
    'coordinator.';
