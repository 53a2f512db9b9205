-- The hosts with pages whose fetches have not been answered for thirty days, those silent for
-- longest first. What counts is the time between two fetches: a host is not silent because nobody
-- has tried. With long periods between revisits one failure proves as little, so that there must be
-- three. The condition is that of the index host_fetches_silent.
SELECT h.scheme || '://' || h.authority
FROM host_fetches f
-- One look-up for each: without the offset, the planner takes a third of all hosts for silent, and
-- reads all hosts.
CROSS JOIN LATERAL (SELECT * FROM hosts h WHERE h.id = f.host AND h.pages > 0 OFFSET 0) h
WHERE f.unanswered_until - f.unanswered_since >= interval '30 days' AND f.unanswered_fetches >= 3
ORDER BY f.unanswered_since, f.host LIMIT $1
