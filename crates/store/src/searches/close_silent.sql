-- Ends a search whose target answers no agent.
WITH over AS (
   UPDATE searches SET state = 'decided', decided_at = $2 WHERE id = $1
       AND state = 'open' RETURNING target
)
INSERT INTO silent_addresses (address, since) SELECT target, $2 FROM over
ON CONFLICT (address) DO UPDATE SET since = excluded.since
