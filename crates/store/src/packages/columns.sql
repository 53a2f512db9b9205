-- Packages of the ledger, each with the key of its agent, and whether an admin had the pages of the
-- agent removed. A condition follows.
SELECT p.position, p.agent, p.epoch, p.seq, p.sha256, p.object, p.foreign_hosts, p.received_at,
       p.ingested_at IS NOT NULL AS is_ingested, p.failures, a.public_key,
       EXISTS (SELECT FROM page_removals r WHERE r.agent = p.agent) AS pages_are_removed
FROM packages p JOIN agents a ON a.id = p.agent
