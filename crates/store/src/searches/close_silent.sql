-- Ends a search whose target answers no agent.
-- 1: closes the search, unless it was decided meanwhile.
WITH over AS (
   UPDATE searches SET state = 'unanswered', decided_at = $2 WHERE id = $1
       AND state = 'open' RETURNING target
)
-- 2: keeps the address as silent, so that later searches prefer another one.
INSERT INTO silent_addresses (address, since) SELECT target, $2 FROM over
ON CONFLICT (address) DO UPDATE SET since = excluded.since
