-- Takes a package down; it counts as received from then on.
INSERT INTO packages (agent, epoch, seq, sha256, object, bytes, plain_bytes, entries, received_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (agent, epoch, seq) DO NOTHING
