-- The newest delegations of an agent are read without the rest of them.

CREATE INDEX delegations_of_agent ON delegations (agent, id DESC) WHERE ended_at IS NULL;
DROP INDEX delegations_agent;
