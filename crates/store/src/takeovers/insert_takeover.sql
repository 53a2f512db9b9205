-- Delegates a subnet ($1 to $2) to the member of a region ($3) that fetches its hosts in place of
-- another one ($4). An earlier takeover ($5: its number) keeps the agent that it is returned to.
INSERT INTO delegations (first, last, agent, fencing_number, reason, decided_at, taken_from,
    generation, search)
SELECT $1, $2, $3, $5 + 1, 'takeover', $6, coalesce(d.taken_from, $4),
       (SELECT id FROM generations WHERE state = 'live'), d.search
FROM delegations d WHERE d.first = $1 AND d.last = $2 AND d.fencing_number = $5
ON CONFLICT DO NOTHING RETURNING id, reason
