-- Takeovers: subnets that members of a region took over from a dead member.

ALTER TABLE delegations
    DROP CONSTRAINT delegations_reason_check,
    ADD CONSTRAINT delegations_reason_check
        CHECK (reason IN ('home', 'company', 'threshold', 'lowest', 'predicted', 'pinned',
                          'override', 'balanced', 'drained', 'takeover')),
    ADD COLUMN taken_from bigint REFERENCES agents DEFERRABLE INITIALLY DEFERRED;
CREATE INDEX delegations_taken_from ON delegations (taken_from)
    WHERE ended_at IS NULL AND taken_from IS NOT NULL;
COMMENT ON COLUMN delegations.reason IS
    'home: the subnet of its own address; company: it serves the company and is fast enough; '
    'threshold: first fast enough; lowest: none fast enough; predicted: no other agent is '
    'likely enough to be nearer; pinned: a pin holds it there; override: an admin reassigned '
    'it once; balanced: the load was spread; drained: its former agent is drained; takeover: its '
    'region fetches it in place of a dead member. Written by: coordinator.';
COMMENT ON COLUMN delegations.taken_from IS
    'The member of the region that it is returned to when that member works again; null unless '
    'its reason is takeover. Written by: coordinator (take_over_subnets).';

-- As before, with the reason takeover among those that no search decided.
CREATE OR REPLACE FUNCTION count_delegations() RETURNS trigger LANGUAGE plpgsql AS $$
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
                    AND t.generation = a.generation - 1 AND t.reason = 'takeover')
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
