-- The ledger of packages as a sequence without gaps, and packages whose ingestion failed.

CREATE TABLE package_ledger (
    id   boolean PRIMARY KEY DEFAULT true CHECK (id),
    last bigint NOT NULL
);
COMMENT ON TABLE package_ledger IS
    'Counter of the ledger. One row, locked by each transaction that enters a package until it '
    'ends, so that positions have no gaps and rise in the order of commits.';
COMMENT ON COLUMN package_ledger.id IS 'Always true, so that there is one row.';
COMMENT ON COLUMN package_ledger.last IS
    'Position of the package that was entered last; 0 before the first. Written by: coordinator.';

-- Packages that were entered before are numbered in the order of arrival.
ALTER TABLE packages ADD COLUMN position bigint;
UPDATE packages p SET position = n.position
FROM (SELECT agent, epoch, seq,
             row_number() OVER (ORDER BY received_at, agent, epoch, seq) AS position
      FROM packages) n
WHERE p.agent = n.agent AND p.epoch = n.epoch AND p.seq = n.seq;
ALTER TABLE packages ALTER COLUMN position SET NOT NULL;
CREATE UNIQUE INDEX packages_position ON packages (position);
COMMENT ON COLUMN packages.position IS
    'LedgerPosition: 1, 2, 3 and so on in the order of commits, without gaps. Written by: '
    'coordinator when the package is entered.';
INSERT INTO package_ledger (last) SELECT coalesce(max(position), 0) FROM packages;

ALTER TABLE packages RENAME COLUMN refused TO failure;
ALTER TABLE packages
    ADD COLUMN failures  integer NOT NULL DEFAULT 0,
    ADD COLUMN failed_at timestamptz,
    ADD COLUMN retry_at  timestamptz;
UPDATE packages SET failures = 1, failed_at = received_at, retry_at = received_at
WHERE failure IS NOT NULL;
COMMENT ON COLUMN packages.failure IS
    'Why its last ingestion failed; null before a failure and after a success. Written by: '
    'coordinator at ingestion.';
COMMENT ON COLUMN packages.failures IS
    'How often its ingestion failed. Written by: coordinator at ingestion.';
COMMENT ON COLUMN packages.failed_at IS
    'When its ingestion failed last; null before. Written by: coordinator at ingestion.';
COMMENT ON COLUMN packages.retry_at IS
    'When its ingestion is tried again; null before a failure. Written by: coordinator at '
    'ingestion, and for an admin who asks for it at once.';
CREATE INDEX packages_failed ON packages (position) WHERE failure IS NOT NULL;

DROP INDEX packages_waiting;
CREATE INDEX packages_waiting ON packages (position) WHERE ingested_at IS NULL;
