-- Lists of the delegations for one reason, the newest first: a rare reason, such as home, would
-- have to be looked for among millions.
CREATE INDEX delegations_of_reason ON delegations (reason, id DESC) WHERE ended_at IS NULL;
