-- 1: the last search of the subnet.
WITH last AS (
    SELECT id FROM searches WHERE first = $1 AND last = $2 AND state <> 'open'
    ORDER BY id DESC LIMIT 1
), again AS (
    -- 2: asks the agent again, if an order of that search expired before $5, or was answered before
    --    the agent moved.
    UPDATE probes p SET state = 'asked', asked_at = $4, answered_at = NULL, reason = NULL,
        rtt_us = NULL, method = NULL
    FROM last, agents a
    WHERE p.search = last.id AND p.agent = $3 AND a.id = $3
      AND (p.state = 'expired' AND p.answered_at <= $5
           OR p.state <> 'asked' AND p.answered_at < a.home_since)
    RETURNING p.id
), new AS (
    -- 3: orders one more probe at the end of the search, if the agent was not asked in it.
    INSERT INTO probes (search, step, agent, phase, level_first, level_last, asked_at)
    SELECT last.id,
        1 + coalesce((SELECT max(p.step) FROM probes p WHERE p.search = last.id), 0), $3,
        'predicted', $1, $2, $4
    FROM last
    ON CONFLICT DO NOTHING
    RETURNING id
)
-- 4: says whether there is an order now.
SELECT EXISTS (SELECT FROM again) OR EXISTS (SELECT FROM new)
