-- Delegates a home subnet to the agent that lives there (IPMicra III.D).
INSERT INTO delegations (first, last, agent, fencing_number, reason, decided_at, generation)
VALUES ($1, $2, $3, $4, 'home', $5, (SELECT id FROM generations WHERE state = 'live'))
ON CONFLICT DO NOTHING
