-- Addresses and round trips of those of these orders ($2) of an agent that were answered at $3. The
-- first address of the subnet stands for one whose search has no target.
SELECT coalesce(p.target, s.target, s.first) AS address, p.rtt_us
FROM probes p LEFT JOIN searches s ON s.id = p.search
WHERE p.id = ANY ($2) AND p.agent = $1 AND p.answered_at = $3
