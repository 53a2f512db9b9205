-- Removals of all pages of a revoked agent from the search index.

CREATE TABLE page_removals (
    number     bigint PRIMARY KEY,
    agent      bigint NOT NULL UNIQUE REFERENCES agents (id),
    ordered_at timestamptz NOT NULL
);
COMMENT ON TABLE page_removals IS
    'Agents whose pages no index contains any more. Each coordinator carries them out in their '
    'order, and leaves the pages of these agents out whenever it builds an index. Grows with the '
    'agents whose pages are removed; one row an agent.';
COMMENT ON COLUMN page_removals.number IS
    '1, 2, 3 and so on in the order of commits, without gaps. Written by: coordinator.';
COMMENT ON COLUMN page_removals.agent IS
    'The agent whose pages are removed; it is revoked. Written by: coordinator.';
COMMENT ON COLUMN page_removals.ordered_at IS
    'When an admin asked for it. Written by: coordinator.';

ALTER TABLE package_ledger ADD COLUMN removals bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN package_ledger.removals IS
    'Number of the last removal of pages; 0 before the first. Written by: coordinator.';
