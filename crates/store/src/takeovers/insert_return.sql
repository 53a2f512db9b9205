-- Delegates a subnet ($1 to $2) to the agent ($3) that had it before it was taken over, for its
-- former reason. Where a new generation of the hierarchy changed the subnet since, the range of
-- before has that reason.
WITH RECURSIVE taken AS (
    SELECT id, first, last, remapped_from FROM delegations
    WHERE first = $1 AND last = $2 AND fencing_number = $5
    UNION
    SELECT d.id, d.first, d.last, d.remapped_from
    FROM taken t JOIN delegations d ON d.id = t.remapped_from
)
INSERT INTO delegations (first, last, agent, fencing_number, reason, decided_at, generation, search,
    rtt_us, pin, assigned_by, note)
SELECT $1, $2, $3, $5 + 1,
       -- A part in which the agent does not live, as in delegate_remapped.sql.
       CASE WHEN f.reason = 'home' AND NOT a.home BETWEEN $1 AND $2 THEN 'company'
           ELSE f.reason END,
       $6, (SELECT id FROM generations WHERE state = 'live'),
       f.search, f.rtt_us, f.pin, f.assigned_by, f.note
FROM taken t
JOIN delegations f ON f.first = t.first AND f.last = t.last
JOIN agents a ON a.id = f.agent
WHERE f.reason <> 'takeover' AND f.agent = $3 AND $4::bigint IS NOT NULL
ORDER BY t.id DESC, f.fencing_number DESC LIMIT 1
ON CONFLICT DO NOTHING RETURNING id, reason
