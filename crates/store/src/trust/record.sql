-- Stores the tests and the newest evidence.
INSERT INTO agent_trust (agent, tests, evidence) VALUES ($1, $2, $3)
ON CONFLICT (agent) DO UPDATE SET tests = excluded.tests, evidence = excluded.evidence
