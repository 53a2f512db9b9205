-- 1: whether there is room for one more.
WITH room AS (
    SELECT count(*) < $6 AS is_left FROM hidden_from_search
),
-- 2: hides it, unless it is hidden already.
inserted AS (
    INSERT INTO hidden_from_search (target, kind, reason, hidden_by, hidden_at)
    SELECT $1, $2, $3, $4, $5 FROM room WHERE is_left
    ON CONFLICT (target) DO NOTHING
    RETURNING number
)
SELECT (SELECT number FROM inserted),
       EXISTS (SELECT FROM hidden_from_search WHERE target = $1)
