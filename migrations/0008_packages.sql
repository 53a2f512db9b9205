-- Packages of results.

CREATE TABLE packages (
    agent       bigint NOT NULL REFERENCES agents,
    epoch       bigint NOT NULL CHECK (epoch >= 0),
    seq         bigint NOT NULL,
    sha256      bytea NOT NULL,
    object      text NOT NULL,
    bytes       bigint NOT NULL,
    plain_bytes bigint NOT NULL,
    entries     integer NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    ingested_at timestamptz,
    ingestions  smallint NOT NULL DEFAULT 0,
    pages       integer NOT NULL DEFAULT 0,
    fetches     integer NOT NULL DEFAULT 0,
    wire_bytes  bigint NOT NULL DEFAULT 0,
    refused     text,
    PRIMARY KEY (agent, epoch, seq)
);
CREATE INDEX packages_waiting ON packages (received_at) WHERE ingested_at IS NULL;
CREATE INDEX packages_ingested ON packages (ingested_at, agent) WHERE ingested_at IS NOT NULL;
COMMENT ON TABLE packages IS 'Ledger of packages: each is ingested exactly once.';
COMMENT ON COLUMN packages.agent IS 'The agent that shipped it. Written by: coordinator.';
COMMENT ON COLUMN packages.epoch IS
    'Number of the agent''s data directory. Written by: coordinator from the signed header.';
COMMENT ON COLUMN packages.seq IS
    'Number within the epoch, from 1. Written by: coordinator from the signed header.';
COMMENT ON COLUMN packages.sha256 IS
    'SHA-256 of the whole package as received. Written by: coordinator.';
COMMENT ON COLUMN packages.object IS 'Its place in object storage. Written by: coordinator.';
COMMENT ON COLUMN packages.bytes IS 'Size as received, in bytes. Written by: coordinator.';
COMMENT ON COLUMN packages.plain_bytes IS
    'Size of its body once inflated, in bytes. Written by: coordinator from the signed '
    'header.';
COMMENT ON COLUMN packages.entries IS
    'Entries it holds. Written by: coordinator from the signed header.';
COMMENT ON COLUMN packages.received_at IS
    'When its body and this row were stored. Written by: coordinator.';
COMMENT ON COLUMN packages.ingested_at IS
    'When its pages were indexed and its links queued; null before. Written by: coordinator '
    'at ingestion.';
COMMENT ON COLUMN packages.ingestions IS
    'How often it was ingested: 0, then 1 for ever. Written by: coordinator at ingestion.';
COMMENT ON COLUMN packages.pages IS 'Documents it brought. Written by: coordinator at ingestion.';
COMMENT ON COLUMN packages.fetches IS 'Fetches it reported. Written by: coordinator at ingestion.';
COMMENT ON COLUMN packages.wire_bytes IS
    'Bytes of bodies that the agent fetched for it. Written by: coordinator at ingestion.';
COMMENT ON COLUMN packages.refused IS
    'Why it could not be ingested though its signature is valid; null otherwise. Written by: '
    'coordinator at ingestion.';
