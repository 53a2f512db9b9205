-- Sites and pages that no search shows.

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
COMMENT ON COLUMN hidden_from_search.number IS
    'HiddenId. Written by: coordinator.';
COMMENT ON COLUMN hidden_from_search.kind IS
    'site or page. Written by: coordinator.';
COMMENT ON COLUMN hidden_from_search.reason IS
    'Why, in the words of the admin. Written by: coordinator.';
COMMENT ON COLUMN hidden_from_search.hidden_by IS
    'Name of the admin. Written by: coordinator.';
COMMENT ON COLUMN hidden_from_search.hidden_at IS
    'When the admin hid it. Written by: coordinator.';

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
