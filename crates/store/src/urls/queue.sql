-- Queues URLs that are not queued yet, and counts those that agents discovered ($6) at their hosts.
-- The URLs that were queued are listed only where $7 asks for them: links are many.
WITH queued AS (
    INSERT INTO pending_urls (host, url, redirects)
    SELECT h.id, u.url, u.redirects
    FROM unnest($1::text[], $2::text[], $3::text[], $4::smallint[]) WITH ORDINALITY
         AS u (scheme, authority, url, redirects, position)
    JOIN hosts h ON h.scheme = u.scheme AND h.authority = u.authority AND h.state <> 'failed'
    ORDER BY u.position
    ON CONFLICT (host, url) DO NOTHING
    RETURNING host, url
), counted AS (
    SELECT host, count(*)::integer AS urls FROM queued WHERE $6 GROUP BY host
), updated AS (
    UPDATE hosts h
    SET queued = c.urls + CASE WHEN h.queued_day = d.today THEN h.queued ELSE 0 END,
        queued_day = d.today
    FROM counted c, (SELECT ($5 AT TIME ZONE 'UTC')::date AS today) d
    WHERE h.id = c.host
)
SELECT count(*), coalesce(array_agg(url) FILTER (WHERE $7), '{}') FROM queued
