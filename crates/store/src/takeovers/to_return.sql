-- Subnets that were taken over from these agents ($1), the oldest first.
SELECT first, last, generation, agent, taken_from FROM delegations
WHERE taken_from = ANY($1) AND ended_at IS NULL
ORDER BY id LIMIT $2
