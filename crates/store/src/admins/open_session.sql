-- Opens a session under the hash of its cookie, and clears away those that are over.
INSERT INTO admin_sessions (token_sha256, admin, created_at, seen_at) VALUES ($1, $2, $3, $3)
