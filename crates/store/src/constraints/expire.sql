-- 1: ends pins and exclusions that have expired or whose agent was revoked.
WITH over AS (
   UPDATE constraints s SET ended_at = $1, ended_by = 'coordinator'
   FROM agents a
   WHERE a.id = s.agent AND s.ended_at IS NULL AND (s.expires_at <= $1 OR a.state = 'revoked')
   RETURNING s.id, s.kind, a.state
)
-- 2: writes an audit entry for each; a revocation is named also where the time was over, too.
INSERT INTO audit (at, actor, action, subject, detail)
SELECT $1, 'coordinator', kind || '.end', CASE kind WHEN 'pin' THEN 'pin_' ELSE 'exc_' END || id,
       jsonb_build_object('why', CASE state WHEN 'revoked' THEN 'the agent was revoked'
           ELSE 'expired' END)
FROM over
