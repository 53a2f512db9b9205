-- Declines a request; its link and its unused token become worthless. Nothing happens to a request
-- in another state than $4, if that is given.
WITH declined AS (
   UPDATE join_requests r
   SET state = 'declined', decided_by = $2, decided_at = $3, invitation_sha256 = NULL
   WHERE r.id = $1 AND ($4::text IS NULL OR r.state = $4) AND NOT EXISTS (
      SELECT FROM join_tokens t WHERE t.id = r.join_token AND t.used_by IS NOT NULL
   )
   RETURNING r.name, r.join_token
), revoked AS (
   UPDATE join_tokens t SET revoked_at = $3, revoked_by = $2
   FROM declined d WHERE t.id = d.join_token AND t.revoked_at IS NULL
)
SELECT name FROM declined
