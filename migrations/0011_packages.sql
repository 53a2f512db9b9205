-- Packages of results, quotas on what they bring, and what searches leave out.

CREATE TABLE package_ledger (
    id       boolean PRIMARY KEY DEFAULT true CHECK (id),
    instance uuid NOT NULL DEFAULT gen_random_uuid(),
    last     bigint NOT NULL,
    removals bigint NOT NULL DEFAULT 0
);
INSERT INTO package_ledger (last) VALUES (0);
COMMENT ON TABLE package_ledger IS
    'Counter of the ledger. One row, locked by each transaction that enters a package until it '
    'ends, so that positions have no gaps and rise in the order of commits.';
COMMENT ON COLUMN package_ledger.id IS 'Always true, so that there is one row.';
COMMENT ON COLUMN package_ledger.instance IS
    'Identifies this ledger, so that an index made from another one, or from this one before a '
    'restore, is noticed. Written by: this migration; coordinator, after a restore.';
COMMENT ON COLUMN package_ledger.last IS
    'Position of the package that was entered last; 0 before the first. Written by: coordinator.';
COMMENT ON COLUMN package_ledger.removals IS
    'Number of the last removal of pages; 0 before the first. Written by: coordinator.';

CREATE TABLE packages (
    agent         bigint NOT NULL REFERENCES agents,
    epoch         bigint NOT NULL CHECK (epoch >= 0),
    seq           bigint NOT NULL,
    position      bigint NOT NULL,
    sha256        bytea NOT NULL,
    object        text NOT NULL,
    bytes         bigint NOT NULL,
    plain_bytes   bigint NOT NULL,
    entries       integer NOT NULL,
    foreign_hosts text[] NOT NULL DEFAULT '{}',
    received_at   timestamptz NOT NULL DEFAULT now(),
    ingested_at   timestamptz,
    ingestions    smallint NOT NULL DEFAULT 0,
    pages         integer NOT NULL DEFAULT 0,
    fetches       integer NOT NULL DEFAULT 0,
    wire_bytes    bigint NOT NULL DEFAULT 0,
    failure       text,
    failures      integer NOT NULL DEFAULT 0,
    failed_at     timestamptz,
    retry_at      timestamptz,
    PRIMARY KEY (agent, epoch, seq)
);
CREATE UNIQUE INDEX packages_position ON packages (position);
CREATE INDEX packages_waiting ON packages (position) WHERE ingested_at IS NULL;
CREATE INDEX packages_failed ON packages (position) WHERE failure IS NOT NULL;
COMMENT ON TABLE packages IS
    'Ledger of packages: each is ingested exactly once. Grows with the packages that agents send; '
    'kept for good, because each coordinator builds its index from it.';
COMMENT ON COLUMN packages.agent IS 'The agent that shipped it. Written by: coordinator.';
COMMENT ON COLUMN packages.epoch IS
    'Number of the agent''s data directory. Written by: coordinator from the signed header.';
COMMENT ON COLUMN packages.seq IS
    'Number within the epoch, from 1. Written by: coordinator from the signed header.';
COMMENT ON COLUMN packages.position IS
    'LedgerPosition: 1, 2, 3 and so on in the order of commits, without gaps. Written by: '
    'coordinator when the package is entered.';
COMMENT ON COLUMN packages.sha256 IS
    'SHA-256 of the whole package as received. Written by: coordinator.';
COMMENT ON COLUMN packages.object IS 'Its place in object storage. Written by: coordinator.';
COMMENT ON COLUMN packages.bytes IS 'Size as received, in bytes. Written by: coordinator.';
COMMENT ON COLUMN packages.plain_bytes IS
    'Size of its body once inflated, in bytes. Written by: coordinator from the signed header.';
COMMENT ON COLUMN packages.entries IS
    'Entries it holds. Written by: coordinator from the signed header.';
COMMENT ON COLUMN packages.foreign_hosts IS
    'Hosts (scheme and authority) of its fetches that were not its agent''s when it was received; '
    'no index contains those fetches. Written by: coordinator when the package is entered.';
COMMENT ON COLUMN packages.received_at IS
    'When its body and this row were stored. Written by: coordinator.';
COMMENT ON COLUMN packages.ingested_at IS
    'When its pages were indexed and its links queued; null before. Written by: coordinator at '
    'ingestion.';
COMMENT ON COLUMN packages.ingestions IS
    'How often it was ingested: 0, then 1 for ever. Written by: coordinator at ingestion.';
COMMENT ON COLUMN packages.pages IS 'Documents it brought. Written by: coordinator at ingestion.';
COMMENT ON COLUMN packages.fetches IS 'Fetches it reported. Written by: coordinator at ingestion.';
COMMENT ON COLUMN packages.wire_bytes IS
    'Bytes of bodies that the agent fetched for it. Written by: coordinator at ingestion.';
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

CREATE TABLE discovery_days (
    agent   bigint NOT NULL REFERENCES agents,
    day     date NOT NULL,
    urls    bigint NOT NULL DEFAULT 0,
    hosts   bigint NOT NULL DEFAULT 0,
    refused bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (agent, day)
);
COMMENT ON TABLE discovery_days IS
    'What each agent discovered on each of the last 30 days; one row per agent and day. Older rows '
    'are deleted.';
COMMENT ON COLUMN discovery_days.agent IS 'The agent. Written by: coordinator at ingestion.';
COMMENT ON COLUMN discovery_days.day IS
    'Day (UTC) on which the package was received. Written by: coordinator at ingestion.';
COMMENT ON COLUMN discovery_days.urls IS
    'URLs that were queued. Written by: coordinator at ingestion.';
COMMENT ON COLUMN discovery_days.hosts IS
    'Hosts that were new. Written by: coordinator at ingestion.';
COMMENT ON COLUMN discovery_days.refused IS
    'URLs that a quota refused. Written by: coordinator at ingestion.';

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

CREATE TABLE hidden_from_search (
    target    text PRIMARY KEY,
    number    bigint NOT NULL UNIQUE GENERATED ALWAYS AS IDENTITY,
    kind      text NOT NULL CHECK (kind IN ('site', 'page')),
    reason    text NOT NULL,
    hidden_by text NOT NULL,
    hidden_at timestamptz NOT NULL
);
COMMENT ON TABLE hidden_from_search IS
    'Sites and pages that no search of any coordinator shows. Their pages stay in the index and '
    'are crawled. Grows with the decisions of admins; at most 10,000 rows.';
COMMENT ON COLUMN hidden_from_search.target IS
    'Of a site its domain, in Punycode, which stands for all hosts of the domain; of a page its '
    'normalised URL. Written by: coordinator.';
COMMENT ON COLUMN hidden_from_search.number IS 'HiddenId. Written by: coordinator.';
COMMENT ON COLUMN hidden_from_search.kind IS 'site or page. Written by: coordinator.';
COMMENT ON COLUMN hidden_from_search.reason IS
    'Why, in the words of the admin. Written by: coordinator.';
COMMENT ON COLUMN hidden_from_search.hidden_by IS 'Name of the admin. Written by: coordinator.';
COMMENT ON COLUMN hidden_from_search.hidden_at IS 'When the admin hid it. Written by: coordinator.';

CREATE TABLE hidden_from_search_changes (
    id   boolean PRIMARY KEY DEFAULT true CHECK (id),
    last bigint NOT NULL
);
INSERT INTO hidden_from_search_changes (last) VALUES (0);
COMMENT ON TABLE hidden_from_search_changes IS
    'By which coordinators notice that hidden_from_search has changed. One row.';
COMMENT ON COLUMN hidden_from_search_changes.id IS 'Always true, so that there is one row.';
COMMENT ON COLUMN hidden_from_search_changes.last IS
    'Number of changes so far; rises in the order of commits. Written by: coordinator.';
