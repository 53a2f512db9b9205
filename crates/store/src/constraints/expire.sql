-- 1: ends pins and exclusions that have expired, or whose agent was revoked or leaves.
WITH over AS (
   UPDATE constraints s SET ended_at = $1, ended_by = 'coordinator'
   FROM agents a
   WHERE a.id = s.agent AND s.ended_at IS NULL
     AND (s.expires_at <= $1 OR a.state = 'revoked' OR a.leaving_at IS NOT NULL)
   RETURNING s.id, s.kind, a.state, a.leaving_at
)
-- 2: writes an audit entry for each; what the agent did is named also where the time was over, too.
INSERT INTO audit (at, actor, action, subject, detail)
SELECT $1, 'coordinator', kind || '.end', CASE kind WHEN 'pin' THEN 'pin_' ELSE 'exc_' END || id,
       jsonb_build_object('why', CASE WHEN state = 'revoked' THEN 'the agent was revoked'
           WHEN leaving_at IS NOT NULL THEN 'the agent leaves' ELSE 'expired' END)
FROM over
