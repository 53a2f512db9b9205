-- Locks the hosts of subnets ($1, $2) that go to other agents ($3), by rising number.
SELECT FROM hosts h
JOIN unnest($1::inet[], $2::inet[], $3::bigint[]) AS g (first, last, agent)
    ON h.first = g.first AND h.last = g.last
WHERE h.state = 'resolved' OR (h.state = 'delegated' AND h.agent <> g.agent)
ORDER BY h.id FOR UPDATE OF h
