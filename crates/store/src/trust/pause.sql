-- 1: pauses the agent if it is approved.
WITH paused AS (
    UPDATE agents SET state = 'paused' WHERE id = $1 AND state = 'approved' RETURNING id
), noted AS (
    -- 2: enters it in the audit log.
    INSERT INTO audit (at, actor, action, subject, detail)
    SELECT $4, 'coordinator', 'agent.pause', $2, jsonb_build_object('finding', $3::text)
    FROM paused
), judged_anew AS (
    -- 3: forgets what it said of others: all reports of other agents are judged anew.
    UPDATE landmark_times SET judged = false
    WHERE agent <> $1 AND judged AND EXISTS (SELECT FROM paused)
), forgotten AS (
    UPDATE agent_trust SET tests = 'null', evidence = '[]'
    WHERE agent <> $1 AND paused_at IS NULL AND EXISTS (SELECT FROM paused)
)
-- 4: keeps the finding, until an admin resumes the agent.
UPDATE agent_trust SET paused_at = $4, finding = $3 WHERE agent IN (SELECT id FROM paused)
