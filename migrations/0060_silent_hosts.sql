-- When hosts answered last, and the fetches without an answer since then.

ALTER TABLE host_fetches
    ADD COLUMN answered_at        timestamptz,
    ADD COLUMN unanswered_since   timestamptz,
    ADD COLUMN unanswered_until   timestamptz,
    ADD COLUMN unanswered_fetches bigint NOT NULL DEFAULT 0,
    -- What counts is the time between two fetches: a host is not silent because nobody has tried.
    -- With long periods between revisits one failure proves as little, so that there must be three.
    ADD COLUMN is_silent          boolean NOT NULL GENERATED ALWAYS AS (
        coalesce(unanswered_until - unanswered_since >= interval '30 days', false)
            AND unanswered_fetches >= 3) STORED;
COMMENT ON COLUMN host_fetches.answered_at IS
    'Time of the last fetch with an answer, by the agent''s clock; null before one is known. '
    'Written by: coordinator at ingestion.';
COMMENT ON COLUMN host_fetches.unanswered_since IS
    'Time of the first fetch without an answer after that; null where there is none. Written by: '
    'coordinator at ingestion.';
COMMENT ON COLUMN host_fetches.unanswered_until IS
    'Time of the last of these fetches; null where there is none. Written by: coordinator at '
    'ingestion.';
COMMENT ON COLUMN host_fetches.unanswered_fetches IS
    'Number of these fetches. Written by: coordinator at ingestion.';
COMMENT ON COLUMN host_fetches.is_silent IS
    'Whether searches leave the host out. Computed by the database.';
CREATE INDEX host_fetches_silent ON host_fetches (unanswered_since, host) WHERE is_silent;
