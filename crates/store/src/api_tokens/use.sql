-- The owner of the token with the hash $1 at the time $2. Notes the use if the last one that is
-- noted was before $3.
WITH found AS (
   SELECT t.id, t.name, t.scope, a.name AS account, a.role, t.used_at
   FROM api_tokens t JOIN admins a ON a.id = t.account
   WHERE t.token_sha256 = $1 AND (t.expires_at IS NULL OR t.expires_at > $2)
), noted AS (
   UPDATE api_tokens t SET used_at = $2
   FROM found f WHERE t.id = f.id AND (f.used_at IS NULL OR f.used_at < $3)
)
SELECT id, name, scope, account, role FROM found
