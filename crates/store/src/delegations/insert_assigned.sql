-- The new delegation keeps the search that last looked at the subnet, so that what was measured
-- can still be seen, and the agent's own time, where it was asked since it is where it is.
INSERT INTO delegations (first, last, agent, fencing_number, reason, decided_at, pin, assigned_by,
    note, generation, search, rtt_us)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9,
       (SELECT id FROM generations WHERE state = 'live'),
       (SELECT max(s.id) FROM searches s WHERE s.first = $1 AND s.last = $2 AND EXISTS
           (SELECT FROM probes p WHERE p.search = s.id AND p.state = 'measured')),
       (SELECT p.rtt_us FROM searches s JOIN probes p ON p.search = s.id
        JOIN agents a ON a.id = p.agent AND p.answered_at >= coalesce(a.home_since, '-infinity')
        WHERE s.first = $1 AND s.last = $2 AND p.agent = $3 AND p.state = 'measured'
        ORDER BY p.answered_at DESC LIMIT 1)
ON CONFLICT DO NOTHING RETURNING id
