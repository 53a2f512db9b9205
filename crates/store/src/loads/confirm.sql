-- 1: orders one more probe of a subnet at the end of its last search, before a move to an agent
-- that was only predicted to be near.
INSERT INTO probes AS p (search, step, agent, phase, level_first, level_last, asked_at)
SELECT s.id, 1 + coalesce((SELECT max(p.step) FROM probes p WHERE p.search = s.id), 0), $3,
    'predicted', $1, $2, $4
FROM searches s WHERE s.first = $1 AND s.last = $2 AND s.state = 'decided'
    ORDER BY s.id DESC LIMIT 1
-- 2: where the agent was asked already, only if that order expired before $5.
ON CONFLICT (search, agent) DO UPDATE
SET step = excluded.step, phase = excluded.phase, level_first = excluded.level_first,
    level_last = excluded.level_last, asked_at = excluded.asked_at, state = 'asked',
    answered_at = NULL, reason = NULL
WHERE p.state = 'expired' AND p.answered_at <= $5
