-- What keeps background tasks from reading whole tables: indexes of what they look for, the agent
-- beside each URL that can be routed, and counts that are kept as rows change.

CREATE INDEX hosts_unplaced ON hosts (id)
    WHERE state = 'resolved' AND address IS NOT NULL AND first IS NULL;
CREATE INDEX probes_landmark_ended ON probes (asked_at)
    WHERE purpose = 'landmark' AND state <> 'asked';
CREATE INDEX landmark_times_measured_at ON landmark_times (measured_at);

ALTER TABLE pending_urls ADD COLUMN agent bigint;
COMMENT ON COLUMN pending_urls.agent IS
    'The agent of the host, where the URL can be routed to it; null while the host waits or '
    'moves. Written by: triggers on pending_urls and hosts.';
UPDATE pending_urls p SET agent = h.agent
FROM hosts h WHERE h.id = p.host AND h.state = 'delegated';
CREATE INDEX pending_urls_routable ON pending_urls (agent, id) WHERE agent IS NOT NULL;

-- The host is locked: a URL that is queued while its host gets an agent is routed as well. The plan
-- is kept, because it is made for each URL otherwise, and is by index even while tables are small.
CREATE FUNCTION enter_agent_of_url() RETURNS trigger LANGUAGE plpgsql
SET plan_cache_mode = auto SET enable_seqscan = off AS $$
BEGIN
    SELECT agent INTO NEW.agent FROM hosts WHERE id = NEW.host AND state = 'delegated' FOR SHARE;
    RETURN NEW;
END $$;
CREATE TRIGGER pending_urls_agent BEFORE INSERT ON pending_urls
    FOR EACH ROW EXECUTE FUNCTION enter_agent_of_url();

CREATE TABLE counts (
    name  text PRIMARY KEY,
    value numeric NOT NULL
);
COMMENT ON TABLE counts IS
    'Numbers of the overview, up to the rows of count_changes. Some dozen rows.';
COMMENT ON COLUMN counts.name IS 'What is counted. Written by: triggers, through count_changes.';
COMMENT ON COLUMN counts.value IS 'How many. Written by: coordinator.';

CREATE TABLE count_changes (
    name   text NOT NULL,
    change numeric NOT NULL
);
COMMENT ON TABLE count_changes IS
    'Changes of counts that are not added yet. Transactions only insert, so that none waits for '
    'another; a background task adds them up every few seconds.';
COMMENT ON COLUMN count_changes.name IS 'What is counted. Written by: triggers.';
COMMENT ON COLUMN count_changes.change IS 'How many more. Written by: triggers.';

-- Each function gets the rows of one statement and inserts what they change.
CREATE FUNCTION count_hosts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO count_changes
        SELECT c.name, c.change FROM (
            SELECT count(*) AS known, count(address) AS resolved,
                   count(*) FILTER (WHERE state = 'delegated') AS delegated,
                   count(*) FILTER (WHERE state = 'failed') AS failed
            FROM after) AS h
        CROSS JOIN LATERAL (
            VALUES ('hosts', h.known), ('hosts_resolved', h.resolved),
                   ('hosts_delegated', h.delegated), ('hosts_failed', h.failed)
        ) AS c (name, change) WHERE c.change <> 0;
        RETURN NULL;
    END IF;
    -- Most statements change other columns.
    IF NOT EXISTS (
        SELECT FROM before b JOIN after a ON a.id = b.id
        WHERE (a.state, a.agent, num_nonnulls(a.address))
            IS DISTINCT FROM (b.state, b.agent, num_nonnulls(b.address))) THEN
        RETURN NULL;
    END IF;
    UPDATE pending_urls p SET agent = CASE WHEN a.state = 'delegated' THEN a.agent END
    FROM before b JOIN after a ON a.id = b.id
    WHERE p.host = a.id AND (a.state, a.agent) IS DISTINCT FROM (b.state, b.agent);
    INSERT INTO count_changes
    SELECT c.name, sum(c.change) FROM before b JOIN after a ON a.id = b.id CROSS JOIN LATERAL (
        VALUES ('hosts_resolved', num_nonnulls(a.address) - num_nonnulls(b.address)),
               ('hosts_delegated', (a.state = 'delegated')::int - (b.state = 'delegated')::int),
               ('hosts_failed', (a.state = 'failed')::int - (b.state = 'failed')::int)
    ) AS c (name, change)
    GROUP BY c.name HAVING sum(c.change) <> 0;
    RETURN NULL;
END $$;
CREATE TRIGGER hosts_counted AFTER INSERT ON hosts REFERENCING NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION count_hosts();
CREATE TRIGGER hosts_changed AFTER UPDATE ON hosts
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION count_hosts();

CREATE FUNCTION count_delegations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO count_changes
        SELECT 'delegations_' || reason, count(*) FROM after WHERE ended_at IS NULL GROUP BY reason
        UNION ALL SELECT 'delegations_provisional', count(*) FROM after
        WHERE ended_at IS NULL AND provisional HAVING count(*) > 0;
        -- What searches cost: those that decided for good.
        INSERT INTO count_changes
        SELECT c.name, c.change FROM (
            SELECT count(*) AS searches,
                   sum((SELECT count(*) FROM probes p WHERE p.search = a.search))::bigint AS probes
            FROM after a WHERE search IS NOT NULL AND NOT provisional
              AND remapped_from IS NULL AND reason NOT IN ('pinned', 'override', 'balanced')
        ) AS s CROSS JOIN LATERAL (
            VALUES ('decisions', s.searches), ('decisions_probes', s.probes)) AS c (name, change)
        WHERE s.searches > 0;
        RETURN NULL;
    END IF;
    INSERT INTO count_changes
    SELECT c.name, sum(c.change) FROM before b JOIN after a ON a.id = b.id CROSS JOIN LATERAL (
        VALUES ('delegations_' || b.reason, -1),
               ('delegations_provisional', -(b.provisional::int))) AS c (name, change)
    WHERE b.ended_at IS NULL AND a.ended_at IS NOT NULL
    GROUP BY c.name HAVING sum(c.change) <> 0;
    RETURN NULL;
END $$;
CREATE TRIGGER delegations_counted AFTER INSERT ON delegations REFERENCING NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION count_delegations();
CREATE TRIGGER delegations_changed AFTER UPDATE ON delegations
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION count_delegations();

CREATE FUNCTION count_searches() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO count_changes
        SELECT 'searches_decided', count(*) FROM after WHERE state = 'decided'
        HAVING count(*) > 0;
        RETURN NULL;
    END IF;
    INSERT INTO count_changes
    SELECT 'searches_decided', count(*) FROM before b JOIN after a ON a.id = b.id
    WHERE b.state = 'open' AND a.state = 'decided' HAVING count(*) > 0;
    RETURN NULL;
END $$;
CREATE TRIGGER searches_counted AFTER INSERT ON searches REFERENCING NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION count_searches();
CREATE TRIGGER searches_changed AFTER UPDATE ON searches
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION count_searches();

CREATE FUNCTION count_probes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO count_changes
    SELECT 'search_probes', count(*) FROM after WHERE search IS NOT NULL HAVING count(*) > 0;
    RETURN NULL;
END $$;
CREATE TRIGGER probes_counted AFTER INSERT ON probes REFERENCING NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION count_probes();

CREATE FUNCTION count_pending_urls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO count_changes
    SELECT 'pending_urls', CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
    FROM changed HAVING count(*) > 0;
    RETURN NULL;
END $$;
CREATE TRIGGER pending_urls_counted AFTER INSERT ON pending_urls
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_pending_urls();
CREATE TRIGGER pending_urls_uncounted AFTER DELETE ON pending_urls
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_pending_urls();

CREATE FUNCTION count_packages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO count_changes
        SELECT c.name, sum(c.change) FROM after a CROSS JOIN LATERAL (
            VALUES ('packages', 1::numeric), ('packages_bytes', a.bytes),
                   ('packages_plain_bytes', a.plain_bytes),
                   ('packages_ingested', (a.ingestions > 0)::int::numeric),
                   ('packages_pages', a.pages::numeric), ('packages_wire_bytes', a.wire_bytes)
        ) AS c (name, change)
        GROUP BY c.name HAVING sum(c.change) <> 0;
        RETURN NULL;
    END IF;
    INSERT INTO count_changes
    SELECT c.name, sum(c.change)
    FROM before b JOIN after a ON a.agent = b.agent AND a.epoch = b.epoch AND a.seq = b.seq
    CROSS JOIN LATERAL (
        VALUES ('packages_ingested', (a.ingestions > 0)::int::numeric - (b.ingestions > 0)::int),
               ('packages_pages', (a.pages - b.pages)::numeric),
               ('packages_wire_bytes', a.wire_bytes::numeric - b.wire_bytes)) AS c (name, change)
    GROUP BY c.name HAVING sum(c.change) <> 0;
    RETURN NULL;
END $$;
CREATE TRIGGER packages_counted AFTER INSERT ON packages REFERENCING NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION count_packages();
CREATE TRIGGER packages_changed AFTER UPDATE ON packages
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION count_packages();

INSERT INTO counts
SELECT c.name, c.value FROM (
    SELECT count(*) AS known, count(address) AS resolved,
           count(*) FILTER (WHERE state = 'delegated') AS delegated,
           count(*) FILTER (WHERE state = 'failed') AS failed
    FROM hosts) AS h
CROSS JOIN LATERAL (
    VALUES ('hosts', h.known), ('hosts_resolved', h.resolved), ('hosts_delegated', h.delegated),
           ('hosts_failed', h.failed)) AS c (name, value)
UNION ALL
SELECT 'delegations_' || reason, count(*) FROM delegations WHERE ended_at IS NULL GROUP BY reason
UNION ALL
SELECT 'delegations_provisional', count(*) FROM delegations WHERE ended_at IS NULL AND provisional
UNION ALL
SELECT 'searches_decided', count(*) FROM searches WHERE state = 'decided'
UNION ALL
SELECT 'search_probes', count(*) FROM probes WHERE search IS NOT NULL
UNION ALL
SELECT 'pending_urls', count(*) FROM pending_urls
UNION ALL
SELECT c.name, c.value FROM (
    SELECT count(*) AS searches, coalesce(sum(asked), 0)::bigint AS probes FROM (
        SELECT count(p.id) AS asked
        FROM (SELECT DISTINCT search FROM delegations WHERE search IS NOT NULL) AS d
        LEFT JOIN probes p ON p.search = d.search GROUP BY d.search) AS each
) AS s CROSS JOIN LATERAL (
    VALUES ('decisions', s.searches), ('decisions_probes', s.probes)) AS c (name, value)
UNION ALL
SELECT c.name, c.value FROM (
    SELECT count(*) AS received, count(*) FILTER (WHERE ingestions > 0) AS ingested,
           coalesce(sum(bytes), 0) AS bytes,
           coalesce(sum(plain_bytes), 0) AS plain_bytes,
           coalesce(sum(pages), 0) AS pages,
           coalesce(sum(wire_bytes), 0) AS wire_bytes
    FROM packages) AS p
CROSS JOIN LATERAL (
    VALUES ('packages', p.received), ('packages_ingested', p.ingested),
           ('packages_bytes', p.bytes), ('packages_plain_bytes', p.plain_bytes),
           ('packages_pages', p.pages), ('packages_wire_bytes', p.wire_bytes)) AS c (name, value);
