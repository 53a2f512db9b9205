-- 1: pauses the agent if it is approved.
WITH paused AS (
    UPDATE agents SET state = 'paused' WHERE id = $1 AND state = 'approved' RETURNING id
), noted AS (
    -- 2: enters it in the audit log.
    INSERT INTO audit (at, actor, action, subject, detail)
    SELECT $4, 'coordinator', 'agent.pause', $2, jsonb_build_object('finding', $3::text)
    FROM paused
), forgotten AS (
    -- 3: forgets what it said of others in searches: they are judged again. What it measured to
    -- their homes counts only while it is approved.
    UPDATE agent_trust SET tests = 'null', evidence = '[]'
    WHERE agent <> $1 AND paused_at IS NULL AND EXISTS (SELECT FROM paused)
)
-- 4: keeps the finding and the evidence, until an admin resumes the agent.
INSERT INTO agent_trust (agent, tests, evidence, paused_at, finding)
SELECT id, 'null', $5, $4, $3 FROM paused
ON CONFLICT (agent) DO UPDATE SET paused_at = excluded.paused_at, finding = excluded.finding,
                                  evidence = excluded.evidence
