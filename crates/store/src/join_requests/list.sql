-- Requests to host an agent with a number below $1, the newest first.
SELECT r.id, r.state, r.name, r.contact, r.place, r.zone, r.spans, r.message, r.network,
       r.created_at, r.decided_at, r.decided_by, r.invitation_expires_at, r.opened_at,
       t.used_by, a.name AS agent_name
FROM join_requests r
LEFT JOIN join_tokens t ON t.id = r.join_token
LEFT JOIN agents a ON a.id = t.used_by
WHERE r.id < $1 AND ($3::text IS NULL OR r.state = $3)
ORDER BY r.id DESC LIMIT $2
