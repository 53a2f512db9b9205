-- Opens a session under the hash of its cookie, unless the password was replaced since it was
-- checked: whoever replaces it ends the sessions that are open by then.
INSERT INTO admin_sessions (token_sha256, admin, created_at, seen_at)
SELECT $1, id, $3, $3 FROM admins WHERE id = $2 AND password_hash = $4
FOR SHARE
