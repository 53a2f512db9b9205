-- 1: takes the next number. The lock on the counter is held until the transaction ends, so that
-- numbers rise in the order of commits.
WITH next AS (
    UPDATE package_ledger SET removals = removals + 1 RETURNING removals
)
-- 2: orders the removal.
INSERT INTO page_removals (number, agent, ordered_at) SELECT next.removals, $1, $2 FROM next
