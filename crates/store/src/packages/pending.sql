-- Packages that wait to be applied at $1, at most $2 of them: not those at the positions $3, nor
-- those after $4 and up to $5. Each side of the gap is a scan of its own, so that thousands of
-- packages in the gap are not read.
WHERE p.position IN (
    SELECT position FROM (
        (SELECT position FROM packages
         WHERE ingested_at IS NULL AND (retry_at IS NULL OR retry_at <= $1)
           AND (failures > 0 OR position <> ALL($3))
           AND position <= coalesce($4, 9223372036854775807)
         ORDER BY position LIMIT $2)
        UNION ALL
        (SELECT position FROM packages
         WHERE ingested_at IS NULL AND (retry_at IS NULL OR retry_at <= $1)
           AND (failures > 0 OR position <> ALL($3))
           AND position > $5
         ORDER BY position LIMIT $2)
    ) AS beside
    ORDER BY position LIMIT $2
)
ORDER BY p.position
