-- Provisional delegations, of which there are few: those without a search are looked for often.
CREATE INDEX delegations_provisional ON delegations (id) WHERE ended_at IS NULL AND provisional;
