-- Delegations that hold and have a text, at most $2 after $1 (and after $3, the round trip, if they
-- are sorted by it). Of each kind, 10,000 are read at most: a text may leave all or none of them.
-- 1: the subnets of companies and of a country ($4, $5), which Postgres does not know, and those of
-- hosts whose names begin with the text ($6).
WITH subnets AS (
    SELECT first, last FROM unnest($4::inet[], $5::inet[]) AS s (first, last)
    UNION
    SELECT first, last FROM (
        SELECT first, last FROM hosts WHERE authority LIKE $6
        ORDER BY authority USING ~<~ LIMIT $11) AS h
), found AS (
    -- 2: their delegations, each by a look-up.
    SELECT d.* FROM subnets s CROSS JOIN LATERAL (
        SELECT id, agent, reason, rtt_us FROM delegations
        WHERE first = s.first AND last = s.last AND ended_at IS NULL OFFSET 0) AS d
    UNION
    -- 3: the newest of the agents that have the text in their names ($7).
    (SELECT d.* FROM agents a CROSS JOIN LATERAL (
        SELECT id, agent, reason, rtt_us FROM delegations
        WHERE agent = a.id AND ended_at IS NULL ORDER BY id DESC LIMIT $11) AS d
    WHERE a.name ILIKE $7 LIMIT $11)
)
SELECT id FROM found
WHERE ($8::bigint IS NULL OR agent = $8) AND ($9::text IS NULL OR reason = $9)
  AND CASE WHEN NOT $10 THEN id < $1
           ELSE rtt_us IS NOT NULL AND ($3::bigint IS NULL OR (rtt_us, id) < ($3, $1)) END
ORDER BY CASE WHEN $10 THEN rtt_us END DESC, id DESC LIMIT $2
