-- Puts hosts into other subnets, all in one transaction.
SELECT DISTINCT agent FROM hosts WHERE id = ANY($1) AND state = 'moving' AND agent IS NOT NULL
