-- Stores where an agent listens and which region its owner asks for, if that is news.
UPDATE agents SET peer_addresses = $2, region_label = $3
WHERE id = $1 AND (peer_addresses IS DISTINCT FROM $2 OR region_label IS DISTINCT FROM $3)
