-- Adds to the counts of an agent's day, and deletes its rows of more than 30 days ago.
WITH old AS (
    DELETE FROM discovery_days
    WHERE agent = $1 AND day < ($2 AT TIME ZONE 'UTC')::date - 30
)
INSERT INTO discovery_days AS d (agent, day, urls, hosts, refused)
VALUES ($1, ($2 AT TIME ZONE 'UTC')::date, $3, $4, $5)
ON CONFLICT (agent, day) DO UPDATE
   SET urls = d.urls + excluded.urls, hosts = d.hosts + excluded.hosts,
       refused = d.refused + excluded.refused
