-- Counts of the overview and of each agent, which are kept as rows change, so that no page counts
-- whole tables.

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

-- The list of agents sorts by these counts, so that all of them are needed for each page of it.
CREATE TABLE agent_counts (
    agent         bigint PRIMARY KEY REFERENCES agents,
    delegations   bigint NOT NULL DEFAULT 0,
    hosts         bigint NOT NULL DEFAULT 0,
    pages         numeric NOT NULL DEFAULT 0,
    wire_bytes    numeric NOT NULL DEFAULT 0,
    shipped_bytes numeric NOT NULL DEFAULT 0
);
COMMENT ON TABLE agent_counts IS
    'Counts of each agent, up to the rows of agent_count_changes. One row an agent.';
COMMENT ON COLUMN agent_counts.agent IS 'The agent. Written by: coordinator.';
COMMENT ON COLUMN agent_counts.delegations IS 'Subnets that it holds. Written by: coordinator.';
COMMENT ON COLUMN agent_counts.hosts IS 'Hosts that it has. Written by: coordinator.';
COMMENT ON COLUMN agent_counts.pages IS
    'Pages ingested from its packages. Written by: coordinator.';
COMMENT ON COLUMN agent_counts.wire_bytes IS
    'Bytes of bodies that it fetched for them. Written by: coordinator.';
COMMENT ON COLUMN agent_counts.shipped_bytes IS 'Bytes of its packages. Written by: coordinator.';

CREATE TABLE agent_count_changes (
    agent         bigint NOT NULL,
    delegations   bigint NOT NULL DEFAULT 0,
    hosts         bigint NOT NULL DEFAULT 0,
    pages         numeric NOT NULL DEFAULT 0,
    wire_bytes    numeric NOT NULL DEFAULT 0,
    shipped_bytes numeric NOT NULL DEFAULT 0
);
COMMENT ON TABLE agent_count_changes IS
    'Changes of counts of agents that are not added yet, as in count_changes.';
COMMENT ON COLUMN agent_count_changes.agent IS 'The agent. Written by: triggers.';
COMMENT ON COLUMN agent_count_changes.delegations IS
    'Subnets that it holds, how many more. Written by: triggers.';
COMMENT ON COLUMN agent_count_changes.hosts IS
    'Hosts that it has, how many more. Written by: triggers.';
COMMENT ON COLUMN agent_count_changes.pages IS
    'Pages ingested from its packages, how many more. Written by: triggers.';
COMMENT ON COLUMN agent_count_changes.wire_bytes IS
    'Bytes of bodies that it fetched for them, how many more. Written by: triggers.';
COMMENT ON COLUMN agent_count_changes.shipped_bytes IS
    'Bytes of its packages, how many more. Written by: triggers.';

-- Each function gets the rows of one statement and inserts what they change. This one also keeps
-- the agent beside the URLs that can be routed, and beside lost hosts whose pages can be queued.
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
        INSERT INTO agent_count_changes (agent, hosts)
        SELECT agent, count(*) FROM after WHERE agent IS NOT NULL GROUP BY agent;
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
    UPDATE lost_hosts l SET agent = CASE WHEN a.state = 'delegated' THEN a.agent END
    FROM before b JOIN after a ON a.id = b.id
    WHERE l.host = a.id AND (a.state, a.agent) IS DISTINCT FROM (b.state, b.agent);
    INSERT INTO count_changes
    SELECT c.name, sum(c.change) FROM before b JOIN after a ON a.id = b.id CROSS JOIN LATERAL (
        VALUES ('hosts_resolved', num_nonnulls(a.address) - num_nonnulls(b.address)),
               ('hosts_delegated', (a.state = 'delegated')::int - (b.state = 'delegated')::int),
               ('hosts_failed', (a.state = 'failed')::int - (b.state = 'failed')::int)
    ) AS c (name, change)
    GROUP BY c.name HAVING sum(c.change) <> 0;
    INSERT INTO agent_count_changes (agent, hosts)
    SELECT c.agent, sum(c.change) FROM before b JOIN after a ON a.id = b.id
    CROSS JOIN LATERAL (VALUES (a.agent, 1), (b.agent, -1)) AS c (agent, change)
    WHERE a.agent IS DISTINCT FROM b.agent AND c.agent IS NOT NULL
    GROUP BY c.agent HAVING sum(c.change) <> 0;
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
        INSERT INTO agent_count_changes (agent, delegations)
        SELECT agent, count(*) FROM after WHERE ended_at IS NULL GROUP BY agent;
        -- What searches cost: those that decided for good. A delegation that returns to its agent
        -- after a takeover was counted when its search decided.
        INSERT INTO count_changes
        SELECT c.name, c.change FROM (
            SELECT count(*) AS searches,
                   sum((SELECT count(*) FROM probes p WHERE p.search = a.search))::bigint AS probes
            FROM after a WHERE search IS NOT NULL AND NOT provisional
              AND remapped_from IS NULL
              AND reason NOT IN ('pinned', 'override', 'balanced', 'drained', 'takeover')
              AND NOT EXISTS (
                  SELECT FROM delegations t WHERE t.first = a.first AND t.last = a.last
                    AND t.fencing_number = a.fencing_number - 1 AND t.reason = 'takeover')
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
    -- Former homes become subnets of the company while their delegations go on.
    INSERT INTO count_changes
    SELECT 'delegations_' || c.reason, sum(c.change) FROM before b JOIN after a ON a.id = b.id
    CROSS JOIN LATERAL (VALUES (b.reason, -1), (a.reason, 1)) AS c (reason, change)
    WHERE b.ended_at IS NULL AND a.ended_at IS NULL AND a.reason <> b.reason
    GROUP BY c.reason HAVING sum(c.change) <> 0;
    INSERT INTO agent_count_changes (agent, delegations)
    SELECT b.agent, -count(*) FROM before b JOIN after a ON a.id = b.id
    WHERE b.ended_at IS NULL AND a.ended_at IS NOT NULL GROUP BY b.agent;
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
    -- A search that moves to another subnet is closed and opened again.
    SELECT 'searches_decided', sum(CASE a.state WHEN 'decided' THEN 1 ELSE -1 END)
    FROM before b JOIN after a ON a.id = b.id
    WHERE (b.state, a.state) IN (('open', 'decided'), ('decided', 'open'))
    HAVING sum(CASE a.state WHEN 'decided' THEN 1 ELSE -1 END) <> 0;
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
        INSERT INTO agent_count_changes (agent, pages, wire_bytes, shipped_bytes)
        SELECT agent, sum(pages), sum(wire_bytes), sum(bytes) FROM after GROUP BY agent;
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
    INSERT INTO agent_count_changes (agent, pages, wire_bytes)
    SELECT a.agent, sum(a.pages - b.pages), sum(a.wire_bytes::numeric - b.wire_bytes)
    FROM before b JOIN after a ON a.agent = b.agent AND a.epoch = b.epoch AND a.seq = b.seq
    WHERE (a.pages, a.wire_bytes) <> (b.pages, b.wire_bytes) GROUP BY a.agent;
    RETURN NULL;
END $$;
CREATE TRIGGER packages_counted AFTER INSERT ON packages REFERENCING NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION count_packages();
CREATE TRIGGER packages_changed AFTER UPDATE ON packages
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION count_packages();
