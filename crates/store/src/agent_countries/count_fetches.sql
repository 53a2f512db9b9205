-- Counts the fetches of a package of $1 by country. A host whose fetches are all of this package is
-- fetched from for the first time; they were added to those of the hosts just before.
INSERT INTO agent_countries AS c (agent, country, hosts, fetches, timed_fetches, round_trip_us)
SELECT $1, t.country, count(*) FILTER (WHERE h.fetches = t.fetches), sum(t.fetches),
       sum(t.timed_fetches), sum(t.round_trip_us)
FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[])
     AS t (scheme, authority, country, fetches, timed_fetches, round_trip_us)
JOIN hosts h ON h.scheme = t.scheme AND h.authority = t.authority
GROUP BY t.country ORDER BY t.country
ON CONFLICT (agent, country) DO UPDATE SET
    hosts = c.hosts + excluded.hosts,
    fetches = c.fetches + excluded.fetches,
    timed_fetches = c.timed_fetches + excluded.timed_fetches,
    round_trip_us = c.round_trip_us + excluded.round_trip_us
