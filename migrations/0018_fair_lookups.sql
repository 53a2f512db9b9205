-- Lookups that are fair between those who bring host names.

ALTER TABLE hosts ADD COLUMN found_by bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN hosts.found_by IS
    'Identifier of the agent that reported the first link to it; 0 for a seed. Written by: '
    'coordinator at ingestion.';

-- The next hosts of each source, first lookups apart from repeated ones.
CREATE INDEX hosts_lookups ON hosts (found_by, (attempts > 0), retry_at, id)
    WHERE state = 'unresolved';
DROP INDEX hosts_unresolved;
