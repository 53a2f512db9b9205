-- Load and quotas count a package on the day on which it was received: packages that come back
-- after a restore are work of many days.

COMMENT ON COLUMN host_days.day IS
    'Day (UTC) on which the package was received. Written by: coordinator at ingestion.';
COMMENT ON COLUMN subnet_days.day IS
    'Day (UTC) on which the package was received. Written by: coordinator at ingestion.';
COMMENT ON COLUMN agent_days.day IS
    'Day (UTC) on which the package was received. Written by: coordinator at ingestion.';
COMMENT ON COLUMN discovery_days.day IS
    'Day (UTC) on which the package was received. Written by: coordinator at ingestion.';
