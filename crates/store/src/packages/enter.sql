-- 1: takes the next position. The lock on the counter is held until the transaction ends, so that
-- positions rise in the order of commits; a transaction that is rolled back leaves no gap.
WITH next AS (
    UPDATE package_ledger SET last = last + 1 RETURNING last
)
-- 2: enters the package, unless its name is taken. An upload may take an hour, in which its agent
-- may have been revoked.
INSERT INTO packages (position, agent, epoch, seq, sha256, object, bytes, plain_bytes, entries,
    received_at, foreign_hosts)
SELECT next.last, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
FROM next JOIN agents a ON a.id = $1 AND a.state <> 'revoked'
ON CONFLICT (agent, epoch, seq) DO NOTHING
