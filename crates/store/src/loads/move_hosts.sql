-- Moves the days of hosts ($1) from the subnet that each had to the one that it has ($2, $3).
-- 1: the hosts that change subnets, before their rows do.
WITH moved AS (
    SELECT h.first, h.last, p.first AS next_first, p.last AS next_last, d.day, d.fetches
    FROM unnest($1::bigint[], $2::inet[], $3::inet[]) AS p (id, first, last)
    JOIN hosts h ON h.id = p.id AND h.state IN ('resolved', 'delegated', 'moving')
    JOIN host_days d ON d.host = h.id
    WHERE h.first IS NOT NULL AND (h.first, h.last) <> (p.first, p.last)
), changed AS (
    -- 2: what leaves one subnet comes to another, in one sum for each.
    SELECT first, last, day, sum(fetches) AS fetches FROM (
        SELECT first, last, day, -fetches AS fetches FROM moved
        UNION ALL SELECT next_first, next_last, day, fetches FROM moved) AS both_ways
    GROUP BY first, last, day
), by_subnet AS (
    -- 3: the sums of subnets.
    INSERT INTO subnet_days AS d (first, last, day, fetches)
    SELECT first, last, day, fetches FROM changed ORDER BY first, last, day
    ON CONFLICT (first, last, day) DO UPDATE SET fetches = d.fetches + excluded.fetches
)
-- 4: the sums of the agents that hold the subnets.
INSERT INTO agent_days AS d (agent, day, fetches)
SELECT g.agent, c.day, sum(c.fetches)
FROM changed c JOIN delegations g
  ON g.first = c.first AND g.last = c.last AND g.ended_at IS NULL
GROUP BY g.agent, c.day ORDER BY g.agent, c.day
ON CONFLICT (agent, day) DO UPDATE SET fetches = d.fetches + excluded.fetches
