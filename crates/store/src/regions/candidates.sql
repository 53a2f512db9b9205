-- The agents whose owners want them to be in a region. Paused agents stay members, since they vote.
SELECT id, public_key, home, capacity_pages_per_day, peer_addresses, region_label, region
FROM agents
WHERE peer_addresses IS NOT NULL AND state IN ('approved', 'paused')
ORDER BY id
