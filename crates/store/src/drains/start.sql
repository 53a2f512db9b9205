-- Drains an agent ($1), with what it has now; a second request ($4: its deadline) changes the
-- deadline of the first.
INSERT INTO drains AS d (agent, requested_by, requested_at, deadline_at, subnets, hosts)
SELECT $1, $2, $3, $4,
       (SELECT count(*) FROM delegations WHERE agent = $1 AND ended_at IS NULL),
       (SELECT count(*) FROM hosts WHERE agent = $1)
ON CONFLICT (agent) DO UPDATE SET deadline_at = excluded.deadline_at
