-- Agents that admins drain: their subnets and hosts go to other agents. Counts of each agent, and
-- indexes for the orders of lists.

CREATE TABLE drains (
    agent        bigint PRIMARY KEY REFERENCES agents,
    requested_by text NOT NULL,
    requested_at timestamptz NOT NULL,
    deadline_at  timestamptz,
    subnets      bigint NOT NULL,
    hosts        bigint NOT NULL,
    drained_at   timestamptz
);
COMMENT ON TABLE drains IS
    'Agents that get no subnets and give away those they have. At most one row an agent; the row '
    'is deleted when an admin ends the drain or revokes the agent.';
COMMENT ON COLUMN drains.agent IS
    'The agent that is drained. Written by: coordinator for an admin.';
COMMENT ON COLUMN drains.requested_by IS
    'Admin who requested it. Written by: coordinator for an admin.';
COMMENT ON COLUMN drains.requested_at IS
    'When it was requested. Written by: coordinator for an admin.';
COMMENT ON COLUMN drains.deadline_at IS
    'From then on the subnets for which no other agent was found are taken from the agent, too; '
    'null: they stay until one is found. Written by: coordinator for an admin.';
COMMENT ON COLUMN drains.subnets IS
    'Subnets that the agent held when it was requested. Written by: coordinator for an admin.';
COMMENT ON COLUMN drains.hosts IS
    'Hosts that the agent had when it was requested. Written by: coordinator for an admin.';
COMMENT ON COLUMN drains.drained_at IS
    'When it had neither subnets nor hosts any more; null before. Written by: coordinator '
    '(drain_agents).';

-- Its rows name the reason of the delegations that a drain makes.
ALTER TABLE delegations DROP CONSTRAINT delegations_reason_check;
ALTER TABLE delegations ADD CONSTRAINT delegations_reason_check
    CHECK (reason IN ('home', 'company', 'threshold', 'lowest', 'predicted', 'pinned', 'override',
                      'balanced', 'drained'));
COMMENT ON COLUMN delegations.reason IS
    'home: the subnet of its own address; company: it serves the company and is fast enough; '
    'threshold: first fast enough; lowest: none fast enough; predicted: no other agent is '
    'likely enough to be nearer; pinned: a pin holds it there; override: an admin reassigned '
    'it once; balanced: the load was spread; drained: its former agent is drained. Written by: '
    'coordinator.';

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

INSERT INTO agent_counts (agent, delegations, hosts, pages, wire_bytes, shipped_bytes)
SELECT a.id,
       (SELECT count(*) FROM delegations d WHERE d.agent = a.id AND d.ended_at IS NULL),
       (SELECT count(*) FROM hosts h WHERE h.agent = a.id),
       coalesce(p.pages, 0), coalesce(p.wire_bytes, 0), coalesce(p.bytes, 0)
FROM agents a
LEFT JOIN (SELECT agent, sum(pages) AS pages, sum(wire_bytes) AS wire_bytes, sum(bytes) AS bytes
           FROM packages GROUP BY agent) p ON p.agent = a.id;

-- As before, and the counts of agents. A subnet that a drain moved is no decision of a search.
CREATE OR REPLACE FUNCTION count_delegations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO count_changes
        SELECT 'delegations_' || reason, count(*) FROM after WHERE ended_at IS NULL GROUP BY reason
        UNION ALL SELECT 'delegations_provisional', count(*) FROM after
        WHERE ended_at IS NULL AND provisional HAVING count(*) > 0;
        INSERT INTO agent_count_changes (agent, delegations)
        SELECT agent, count(*) FROM after WHERE ended_at IS NULL GROUP BY agent;
        -- What searches cost: those that decided for good.
        INSERT INTO count_changes
        SELECT c.name, c.change FROM (
            SELECT count(*) AS searches,
                   sum((SELECT count(*) FROM probes p WHERE p.search = a.search))::bigint AS probes
            FROM after a WHERE search IS NOT NULL AND NOT provisional
              AND remapped_from IS NULL
              AND reason NOT IN ('pinned', 'override', 'balanced', 'drained')
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
    INSERT INTO agent_count_changes (agent, delegations)
    SELECT b.agent, -count(*) FROM before b JOIN after a ON a.id = b.id
    WHERE b.ended_at IS NULL AND a.ended_at IS NOT NULL GROUP BY b.agent;
    RETURN NULL;
END $$;

-- As before, and the counts of agents.
CREATE OR REPLACE FUNCTION count_hosts() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- As before, and the counts of agents.
CREATE OR REPLACE FUNCTION count_packages() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- Hosts that seeds named, the newest first.
CREATE INDEX hosts_seeded ON hosts (id DESC) WHERE found_by = 0;
-- Delegations in the order of their round trips.
CREATE INDEX delegations_slowest ON delegations (rtt_us DESC, id DESC)
    WHERE ended_at IS NULL AND rtt_us IS NOT NULL;
