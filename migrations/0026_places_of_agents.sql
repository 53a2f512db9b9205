-- Places of agents: where their owners say they are.

ALTER TABLE agents ADD COLUMN place jsonb;
COMMENT ON COLUMN agents.place IS
    'Where its owner says it is, a PlaceClaim: latitude_mdeg and longitude_mdeg in thousandths of '
    'a degree, city and country where the owner named them. Null when the owner says nothing. '
    'Written by: coordinator at enrolment and at heartbeats.';

-- The newest decided searches in the order of their decisions, from which the predictor learns.
CREATE INDEX searches_decided ON searches (decided_at DESC, id DESC) WHERE state = 'decided';
