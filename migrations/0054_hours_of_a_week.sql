-- What an agent delivered is compared with its load, which is of seven days: the hours of as many
-- days are kept. Those that were deleted come from the ledger, up to the first that is kept.
COMMENT ON TABLE agent_hours IS
    'Fetches in the packages of each agent, by hour of ingestion: what it delivers. The first '
    'hour of an agent is kept, others for eight days: less than two hundred rows an agent.';
INSERT INTO agent_hours (agent, hour, fetches)
SELECT agent, date_trunc('hour', ingested_at, 'UTC'), sum(fetches) FROM packages
WHERE ingested_at > now() - interval '8 days' GROUP BY 1, 2
ON CONFLICT DO NOTHING;
