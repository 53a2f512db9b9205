-- Forgets bundles ($2) that this agent ($1), which has their hosts, took.
DELETE FROM host_bundles b USING hosts h
WHERE b.handover = ANY($2) AND h.id = b.host AND h.agent = $1
RETURNING b.object
