-- Orders probes of paths whose checks are due: at most $3 of each of the agents $1.
-- 1: the paths of each agent that have waited longest, one step in the index for each.
WITH due AS (
    SELECT t.first, t.last, t.agent
    FROM unnest($1::bigint[]) AS a (id) CROSS JOIN LATERAL (
        SELECT first, last, agent FROM timing_reports
        WHERE agent = a.id AND check_at <= $2 ORDER BY check_at LIMIT $3
    ) AS t
), targets AS MATERIALIZED (
    -- 2: where the search of the delegation measured. A home subnet or a pinned one does not move,
    --    so that its path does not matter.
    SELECT due.first, due.last, due.agent, s.target, s.target_host, s.target_port,
           CASE WHEN s.target IS NOT NULL
               THEN nextval(pg_get_serial_sequence('probes', 'id')) END AS probe
    FROM due
    LEFT JOIN delegations d ON d.first = due.first AND d.last = due.last AND d.agent = due.agent
        AND d.ended_at IS NULL AND d.reason <> 'home' AND d.pin IS NULL
    LEFT JOIN searches s ON s.id = d.search
), ordered AS (
    INSERT INTO probes (id, purpose, agent, target, target_host, target_port, asked_at)
    OVERRIDING SYSTEM VALUE
    SELECT probe, 'path', agent, target, target_host, target_port, $2
    FROM targets WHERE probe IS NOT NULL
)
-- 3: without an answer the path is checked again after the first pause of $4, then after the next;
--    without a target not before a fetch.
UPDATE timing_reports r SET path_probe = t.probe,
    unanswered_checks = CASE WHEN t.probe IS NULL THEN r.unanswered_checks
        ELSE least(r.unanswered_checks + 1, cardinality($4::bigint[]) - 1) END,
    check_at = CASE WHEN t.probe IS NOT NULL
        THEN $2 + ($4::bigint[])[r.unanswered_checks + 1] * interval '1 millisecond' END
FROM targets t WHERE r.first = t.first AND r.last = t.last RETURNING r.agent, r.path_probe
