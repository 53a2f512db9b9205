-- Addresses and round trips of those of these orders ($2) of an agent that were answered at $3. For
-- a search without a target, it is the first address of the subnet.
SELECT coalesce(p.target, s.target, s.first) AS address, p.rtt_us
FROM probes p LEFT JOIN searches s ON s.id = p.search
WHERE p.id = ANY ($2) AND p.agent = $1 AND p.answered_at = $3
