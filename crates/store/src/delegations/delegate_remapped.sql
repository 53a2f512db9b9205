-- Delegates each range as the delegation beside it in `ids` was, which ended at the same moment.
INSERT INTO delegations (first, last, agent, fencing_number, reason, provisional, search, rtt_us,
    decided_at, remapped_from, pin, assigned_by, note, taken_from, generation)
SELECT m.first, m.last, d.agent,
       1 + coalesce((SELECT max(g.fencing_number) FROM delegations g WHERE g.first = m.first
           AND g.last = m.last), 0),
       CASE WHEN d.reason = 'home' AND NOT a.home BETWEEN m.first AND m.last THEN 'company'
           ELSE d.reason END,
       d.provisional, d.search, d.rtt_us, $4, d.id, d.pin, d.assigned_by, d.note,
       d.taken_from, (SELECT id FROM generations WHERE state = 'live')
FROM unnest($1::bigint[], $2::inet[], $3::inet[]) AS m (id, first, last)
JOIN delegations d ON d.id = m.id AND d.ended_at = $4 AND d.range_change IS NOT NULL
JOIN agents a ON a.id = d.agent
