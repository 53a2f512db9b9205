-- A lookup that nobody answers is tried again after the next package.

COMMENT ON COLUMN stray_hosts.packages IS
    'Packages in a row with an address outside, at most one an hour; from 3 on the name is looked '
    'up again, which sets 0, or 2 where no name server answered. Written by: coordinator at '
    'ingestion, and follow_hosts.';
