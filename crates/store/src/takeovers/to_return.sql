-- Subnets that were taken over from these agents ($1), the oldest first, after a delegation ($2).
SELECT id, first, last, fencing_number, agent, taken_from FROM delegations
WHERE taken_from = ANY($1) AND id > $2 AND ended_at IS NULL
ORDER BY id LIMIT $3
