-- Ends these release orders ($1), unless they were confirmed meanwhile, or a heartbeat of the agent
-- renewed its lease ($2, as in due.sql). A revoked agent never asks for orders again, so that its
-- orders need not be sent any more. Returns the hosts, which the caller sets free.
UPDATE handovers o
SET ended_at = $3,
    ending = CASE a.state WHEN 'revoked' THEN 'revoked' ELSE 'lapsed' END,
    confirmed_at = CASE a.state WHEN 'revoked' THEN $3::timestamptz END
FROM agents a
WHERE o.id = ANY($1) AND a.id = o.agent AND o.ended_at IS NULL
  AND least(a.last_heartbeat_at, o.asked_at) < $2
RETURNING o.host
