-- Marks an agent as drained once it has neither subnets nor hosts.
UPDATE drains SET drained_at = $2
WHERE agent = $1 AND drained_at IS NULL
  AND NOT EXISTS (SELECT FROM delegations WHERE agent = $1 AND ended_at IS NULL)
  AND NOT EXISTS (SELECT FROM hosts WHERE agent = $1)
