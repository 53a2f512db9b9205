-- Opens a session under the hash of its cookie, unless the password was replaced since it was
-- checked: the replacement has ended only the sessions that were open at that moment.
INSERT INTO admin_sessions (token_sha256, admin, created_at, seen_at)
SELECT $1, id, $3, $3 FROM admins WHERE id = $2 AND password_hash = $4
FOR SHARE
