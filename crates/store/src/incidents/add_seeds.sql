-- Enters measurements as the first steps of a search.
INSERT INTO probes (search, step, agent, phase, level_first, level_last, state, asked_at,
    answered_at, rtt_us)
VALUES ($1, $2, $3, 'rest', $4, $5, 'measured', $6, $6, $7)
