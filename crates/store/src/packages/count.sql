-- Count what a package brought.
UPDATE hosts h SET pages = h.pages + t.pages, fetches = h.fetches + t.fetches,
                   wire_bytes = h.wire_bytes + t.wire_bytes, fetch_ms = h.fetch_ms + t.fetch_ms
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
     AS t (scheme, authority, pages, fetches, wire_bytes, fetch_ms)
WHERE h.scheme = t.scheme AND h.authority = t.authority
