-- Tokens with a number below `before`, the newest first.
SELECT t.id, t.name, t.created_by, t.created_at, t.expires_at, t.used_at, t.used_by,
       a.name AS agent_name, t.revoked_at, t.revoked_by
FROM join_tokens t LEFT JOIN agents a ON a.id = t.used_by
WHERE t.id < $1 ORDER BY t.id DESC LIMIT $2
