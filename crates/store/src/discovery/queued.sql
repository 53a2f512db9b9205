-- Known hosts among those named, each by its position, with the URLs queued for it on this day.
SELECT n.position,
       CASE WHEN h.queued_day = ($3 AT TIME ZONE 'UTC')::date THEN h.queued ELSE 0 END
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS n (scheme, authority, position)
JOIN hosts h ON h.scheme = n.scheme AND h.authority = n.authority
