-- Keeps the last fetches of hosts and what became of all of them. The sums of bytes and times are
-- those of the hosts, which were counted just before.
INSERT INTO host_fetches AS f
    (host, agent, fetched_at, errors, disallowed, wire_bytes, mean_ms, recent)
SELECT h.id, $7, t.fetched_at, t.errors, t.disallowed, h.wire_bytes,
       h.fetch_ms / greatest(h.fetches, 1), t.recent
FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::bigint[], $5::bigint[], $6::jsonb[])
     AS t (scheme, authority, fetched_at, errors, disallowed, recent)
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
    recent = jsonb_path_query_array(excluded.recent || f.recent, $8::jsonpath)
