-- Takes the hosts of subnets ($1, $2) from agents other than their next ones ($3), as part of the
-- transaction that delegates the subnets. Those that move already have an order: once they are
-- released, they go to the agent that has their subnet then.
UPDATE hosts h SET state = 'moving'
FROM unnest($1::inet[], $2::inet[], $3::bigint[]) AS g (first, last, agent)
WHERE h.first = g.first AND h.last = g.last AND h.state = 'delegated' AND h.agent <> g.agent
RETURNING h.id
