-- Adds the changes of the counts of agents to the counts.
WITH taken AS (
    DELETE FROM agent_count_changes
    RETURNING agent, delegations, hosts, pages, wire_bytes, shipped_bytes
), added AS (
    INSERT INTO agent_counts AS c (agent, delegations, hosts, pages, wire_bytes, shipped_bytes)
    SELECT agent, sum(delegations), sum(hosts), sum(pages), sum(wire_bytes), sum(shipped_bytes)
    FROM taken GROUP BY agent ORDER BY agent
    ON CONFLICT (agent) DO UPDATE SET
        delegations = c.delegations + excluded.delegations,
        hosts = c.hosts + excluded.hosts,
        pages = c.pages + excluded.pages,
        wire_bytes = c.wire_bytes + excluded.wire_bytes,
        shipped_bytes = c.shipped_bytes + excluded.shipped_bytes
)
SELECT count(*) FROM taken
