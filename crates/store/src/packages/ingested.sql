-- List the packages that were ingested.
SELECT p.agent, p.epoch, p.seq, p.sha256, p.object, a.public_key, p.received_at
FROM packages p JOIN agents a ON a.id = p.agent
WHERE p.ingested_at IS NOT NULL
  AND (date_trunc('milliseconds', p.received_at), p.agent, p.epoch, p.seq) > ($1, $2, $3, $4)
ORDER BY date_trunc('milliseconds', p.received_at), p.agent, p.epoch, p.seq LIMIT $5
