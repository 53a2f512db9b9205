-- The probes of searches, in order.
SELECT search, id, step, agent, phase, level_first, level_last, state, rtt_us, asked_at
FROM probes WHERE search = ANY($1) ORDER BY search, step
