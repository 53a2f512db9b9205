-- Counts the fetches of a package under the day on which it was received ($4).
-- 1: the hosts, with their subnets.
WITH fetched AS (
    SELECT h.id, h.first, h.last, t.fetches
    FROM unnest($1::text[], $2::text[], $3::bigint[]) AS t (scheme, authority, fetches)
    JOIN hosts h ON h.scheme = t.scheme AND h.authority = t.authority
    WHERE t.fetches > 0
), by_host AS (
    -- 2: the sums of hosts.
    INSERT INTO host_days AS d (host, day, fetches)
    SELECT id, ($4 AT TIME ZONE 'UTC')::date, fetches FROM fetched ORDER BY id
    ON CONFLICT (host, day) DO UPDATE SET fetches = d.fetches + excluded.fetches
), by_subnet AS (
    -- 3: the sums of subnets. Rows are locked in the same order by all packages.
    INSERT INTO subnet_days AS d (first, last, day, fetches)
    SELECT first, last, ($4 AT TIME ZONE 'UTC')::date, sum(fetches)
    FROM fetched WHERE first IS NOT NULL GROUP BY first, last ORDER BY first, last
    ON CONFLICT (first, last, day) DO UPDATE SET fetches = d.fetches + excluded.fetches
)
-- 4: the sums of the agents that hold the subnets.
INSERT INTO agent_days AS d (agent, day, fetches)
SELECT g.agent, ($4 AT TIME ZONE 'UTC')::date, sum(f.fetches)
FROM fetched f JOIN delegations g
  ON g.first = f.first AND g.last = f.last AND g.ended_at IS NULL
GROUP BY g.agent ORDER BY g.agent
ON CONFLICT (agent, day) DO UPDATE SET fetches = d.fetches + excluded.fetches
