-- Keeps the last fetches of hosts and what became of all of them. The sums of bytes and times are
-- those of the hosts, which were counted just before.
INSERT INTO host_fetches AS f
    (host, agent, fetched_at, errors, disallowed, wire_bytes, mean_ms, recent, answered_at,
     unanswered_since, unanswered_until, unanswered_fetches)
SELECT h.id, $7, t.fetched_at, t.errors, t.disallowed, h.wire_bytes,
       h.fetch_ms / greatest(h.fetches, 1), t.recent, t.answered_at,
       t.unanswered_since, t.unanswered_until, t.unanswered_fetches
FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::bigint[], $5::bigint[], $6::jsonb[],
            $9::timestamptz[], $10::timestamptz[], $11::timestamptz[], $12::bigint[])
     AS t (scheme, authority, fetched_at, errors, disallowed, recent, answered_at,
           unanswered_since, unanswered_until, unanswered_fetches)
JOIN hosts h ON h.scheme = t.scheme AND h.authority = t.authority
ORDER BY h.id
ON CONFLICT (host) DO UPDATE SET
    agent = excluded.agent,
    fetched_at = greatest(f.fetched_at, excluded.fetched_at),
    errors = least(f.errors::numeric + excluded.errors, 9223372036854775807),
    disallowed = least(f.disallowed::numeric + excluded.disallowed, 9223372036854775807),
    wire_bytes = excluded.wire_bytes,
    mean_ms = excluded.mean_ms,
    -- The newest stand first; the path cuts off the oldest.
    recent = jsonb_path_query_array(excluded.recent || f.recent, $8::jsonpath),
    answered_at = greatest(f.answered_at, excluded.answered_at),
    (unanswered_since, unanswered_until, unanswered_fetches) = (
        SELECT since, until, fetches FROM (VALUES
            -- 1: the host is still silent.
            (1, f.unanswered_since > coalesce(excluded.answered_at, '-infinity'),
             f.unanswered_since, greatest(f.unanswered_until, excluded.unanswered_until),
             f.unanswered_fetches + excluded.unanswered_fetches),
            -- 2: its silence begins. Packages of two agents may come in another order than their
            --    fetches.
            (2, excluded.unanswered_since > coalesce(f.answered_at, '-infinity'),
             excluded.unanswered_since, excluded.unanswered_until, excluded.unanswered_fetches),
            (3, true, NULL, NULL, 0)
        ) AS cases (number, holds, since, until, fetches)
        WHERE holds ORDER BY number LIMIT 1)
