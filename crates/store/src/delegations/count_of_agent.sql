-- The delegations of an agent, at most $2 of them, counted by reason.
SELECT reason, count(*) FROM (
   SELECT reason FROM delegations WHERE agent = $1 AND ended_at IS NULL LIMIT $2) AS held
GROUP BY reason
