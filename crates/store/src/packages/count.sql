-- Adds the counts of a package to those of its hosts. Sums that no column holds become the largest
-- value: a dishonest agent can wreck the sums of its hosts, but not the ingestion.
UPDATE hosts h SET
    pages = least(h.pages::numeric + t.pages, 9223372036854775807),
    fetches = least(h.fetches::numeric + t.fetches, 9223372036854775807),
    wire_bytes = least(h.wire_bytes::numeric + t.wire_bytes, 9223372036854775807),
    fetch_ms = least(h.fetch_ms::numeric + t.fetch_ms, 9223372036854775807)
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
     AS t (scheme, authority, pages, fetches, wire_bytes, fetch_ms)
WHERE h.scheme = t.scheme AND h.authority = t.authority
