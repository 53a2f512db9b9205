-- Counts the errors of a package under the day of its ingestion ($9).
-- 1: the hosts with their errors, each kind once.
WITH failed AS (
    SELECT h.id, t.kind, t.errors, t.url, t.detail, t.at
    FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[],
                $7::timestamptz[]) AS t (scheme, authority, kind, errors, url, detail, at)
    JOIN hosts h ON h.scheme = t.scheme AND h.authority = t.authority
), by_host AS (
    -- 2: the sums of hosts, with the last error as an example.
    INSERT INTO error_days AS d (host, day, kind, agent, errors, url, detail, at)
    SELECT id, ($9 AT TIME ZONE 'UTC')::date, kind, $8, errors, url, detail, at
    FROM failed ORDER BY id, kind
    ON CONFLICT (host, day, kind) DO UPDATE SET
        agent = excluded.agent, url = excluded.url, detail = excluded.detail, at = excluded.at,
        errors = least(d.errors::numeric + excluded.errors, 9223372036854775807)
)
-- 3: the sums of the agent.
INSERT INTO agent_error_days AS d (agent, day, kind, errors)
SELECT $8, ($9 AT TIME ZONE 'UTC')::date, kind, least(sum(errors), 9223372036854775807)
FROM failed GROUP BY kind ORDER BY kind
ON CONFLICT (day, agent, kind) DO UPDATE SET
    errors = least(d.errors::numeric + excluded.errors, 9223372036854775807)
