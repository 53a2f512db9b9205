-- Delegates a subnet ($1 to $2) to the agent ($3) that had it before it was taken over, for
-- its former reason. Nothing where a new generation of the hierarchy changed the subnet since.
INSERT INTO delegations (first, last, agent, generation, reason, decided_at, hierarchy, search,
    rtt_us, pin, assigned_by, note)
SELECT $1, $2, $3, $5 + 1, f.reason, $6, (SELECT id FROM generations WHERE state = 'live'),
       f.search, f.rtt_us, f.pin, f.assigned_by, f.note
FROM delegations f
WHERE f.first = $1 AND f.last = $2 AND f.reason <> 'takeover' AND f.agent = $3
  AND $4::bigint IS NOT NULL
ORDER BY f.generation DESC LIMIT 1
ON CONFLICT DO NOTHING RETURNING id, reason
