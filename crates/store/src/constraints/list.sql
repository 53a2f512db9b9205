-- Those that count now; with `ended` also those that are over.
SELECT s.id, s.scope, s.first, s.last, s.registry, s.handle, s.country, s.agent, a.name
    AS agent_name, s.reason,
       s.created_by, s.created_at, s.expires_at, s.ended_at, s.ended_by
FROM constraints s JOIN agents a ON a.id = s.agent
WHERE s.kind = $1 AND s.id < $2 AND (s.ended_at IS NULL OR $3) ORDER BY s.id DESC LIMIT $4
