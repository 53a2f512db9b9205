-- Accepts a request with a new one-time link ($4, until $5); without one, declines it. Links and
-- unused tokens of before become worthless. Nothing happens to a request in another state than $6,
-- if that is given.
WITH decided AS (
   UPDATE join_requests r
   SET state = CASE WHEN $4::bytea IS NULL THEN 'declined' ELSE 'accepted' END,
       decided_by = $2, decided_at = $3, invitation_sha256 = $4,
       invitation_expires_at = coalesce($5, r.invitation_expires_at),
       opened_at = CASE WHEN $4::bytea IS NULL THEN r.opened_at END
   WHERE r.id = $1 AND ($6::text IS NULL OR r.state = $6) AND NOT EXISTS (
      SELECT FROM join_tokens t WHERE t.id = r.join_token AND t.used_by IS NOT NULL
   )
   RETURNING r.name, r.join_token
), revoked AS (
   UPDATE join_tokens t SET revoked_at = $3, revoked_by = $2
   FROM decided d WHERE t.id = d.join_token AND t.revoked_at IS NULL
)
SELECT name FROM decided
