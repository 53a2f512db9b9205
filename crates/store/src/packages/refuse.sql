-- Sets a package aside that cannot be ingested though it was well signed.
UPDATE packages SET refused = $4 WHERE agent = $1 AND epoch = $2 AND seq = $3
    AND ingested_at IS NULL
