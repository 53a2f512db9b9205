-- Owners change the configuration after the enrolment: the first heartbeat of each start has all.

COMMENT ON COLUMN agents.name IS
    'Name given by the owner. Written by: coordinator at enrolment, and when the agent starts.';
COMMENT ON COLUMN agents.contact IS
    'Where webmasters reach the owner. Written by: coordinator at enrolment, and when the agent '
    'starts.';
COMMENT ON COLUMN agents.version IS
    'Version of its program. Written by: coordinator at enrolment, and when the agent starts.';
COMMENT ON COLUMN agents.capacity_pages_per_day IS
    'Pages a day that the owner offers. Written by: coordinator at enrolment, and when the agent '
    'starts.';
COMMENT ON COLUMN agents.zone IS
    'IANA time zone of the spans. Written by: coordinator at enrolment, and when the agent starts.';
COMMENT ON COLUMN agents.spans IS
    'Spans as the owner wrote them. Written by: coordinator at enrolment, and when the agent '
    'starts.';
