-- The admin's hand (pins, exclusions, overrides) and balance.

CREATE TABLE constraints (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind       text NOT NULL CHECK (kind IN ('pin', 'exclusion')),
    scope      text NOT NULL CHECK (scope IN ('range', 'company', 'country')),
    first      inet,
    last       inet,
    registry   text,
    handle     text,
    country    text,
    agent      bigint NOT NULL REFERENCES agents,
    reason     text NOT NULL,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    ended_at   timestamptz,
    ended_by   text,
    CHECK (num_nonnulls(first, last) = CASE scope WHEN 'range' THEN 2 ELSE 0 END),
    CHECK (num_nonnulls(registry, handle) = CASE scope WHEN 'company' THEN 2 ELSE 0 END),
    CHECK (num_nonnulls(country) = CASE scope WHEN 'country' THEN 1 ELSE 0 END),
    CHECK (kind = 'exclusion' OR scope <> 'country'),
    CHECK ((ended_at IS NULL) = (ended_by IS NULL))
);
-- What is pinned twice would belong to two; what is excluded twice would have two ends.
CREATE UNIQUE INDEX steering_one_pin ON constraints (scope, first, last, registry, handle) NULLS NOT DISTINCT
    WHERE kind = 'pin' AND ended_at IS NULL;
CREATE UNIQUE INDEX steering_one_exclusion ON constraints (scope, first, last, registry, handle, country, agent) NULLS NOT DISTINCT
    WHERE kind = 'exclusion' AND ended_at IS NULL;
COMMENT ON TABLE constraints IS 'What admins decided beforehand: pins (this agent crawls it) and exclusions (this agent never does). Kept as history when over.';
COMMENT ON COLUMN constraints.id IS 'PinId or ExclusionId.';
COMMENT ON COLUMN constraints.kind IS 'pin or exclusion. Written by: coordinator for an admin.';
COMMENT ON COLUMN constraints.scope IS 'What it is about: range (every subnet that lies in it), company (every subnet it holds), country (every subnet registered there; exclusions only). Written by: coordinator for an admin.';
COMMENT ON COLUMN constraints.first IS 'First address of a range; null otherwise. Written by: coordinator for an admin, and when a new generation of the hierarchy moves the range.';
COMMENT ON COLUMN constraints.last IS 'Last address of a range; null otherwise. Written by: coordinator, as first.';
COMMENT ON COLUMN constraints.registry IS 'Registry that knows the company; null otherwise. Written by: coordinator for an admin.';
COMMENT ON COLUMN constraints.handle IS 'The company''s handle at that registry; null otherwise. Written by: coordinator for an admin.';
COMMENT ON COLUMN constraints.country IS 'Two letters; null otherwise. Written by: coordinator for an admin.';
COMMENT ON COLUMN constraints.agent IS 'Who is pinned there or excluded from there. Written by: coordinator for an admin.';
COMMENT ON COLUMN constraints.reason IS 'Why, in the admin''s words. Written by: coordinator for an admin.';
COMMENT ON COLUMN constraints.created_by IS 'Admin who made it. Written by: coordinator.';
COMMENT ON COLUMN constraints.created_at IS 'When. Written by: coordinator.';
COMMENT ON COLUMN constraints.expires_at IS 'It counts until then; null: until it is removed. Written by: coordinator for an admin.';
COMMENT ON COLUMN constraints.ended_at IS 'When it was removed or had expired; null while it counts. Written by: coordinator.';
COMMENT ON COLUMN constraints.ended_by IS 'Admin who removed it, or coordinator when it had expired or its agent was revoked; null while it counts. Written by: coordinator.';

ALTER TABLE delegations
    ADD COLUMN pin         bigint REFERENCES constraints,
    ADD COLUMN assigned_by text,
    ADD COLUMN note        text;
CREATE INDEX delegations_pinned ON delegations (pin) WHERE ended_at IS NULL AND pin IS NOT NULL;
COMMENT ON COLUMN delegations.pin IS 'The pin that holds it there; null otherwise. A delegation that is pinned without a pin is an override: an admin said so once. Written by: coordinator.';
COMMENT ON COLUMN delegations.assigned_by IS 'Admin who pinned or overrode it; null otherwise. Written by: coordinator.';
COMMENT ON COLUMN delegations.note IS 'Why, in the admin''s words; null when no admin said so. Written by: coordinator.';

ALTER TABLE searches ADD COLUMN skipped jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN searches.skipped IS 'Agents that were passed over when the search decided, each {agent, why}; why is asleep, unreachable, busy, excluded or budget. Written by: coordinator with the decision.';

ALTER TABLE policy
    ADD COLUMN balance_rule          text NOT NULL DEFAULT 'cheapest'
        CHECK (balance_rule IN ('variance', 'next_best', 'cheapest', 'off')),
    ADD COLUMN balance_pass          text NOT NULL DEFAULT 'optimal' CHECK (balance_pass IN ('optimal', 'off')),
    ADD COLUMN balance_moves_a_day   integer NOT NULL DEFAULT 100 CHECK (balance_moves_a_day BETWEEN 0 AND 1000000),
    ADD COLUMN balance_least_gain_ms integer NOT NULL DEFAULT 1000 CHECK (balance_least_gain_ms >= 0);
COMMENT ON COLUMN policy.balance_rule IS 'Which subnet leaves an agent that is over its capacity: variance (IPMicra III.F), next_best, cheapest; off: none. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.balance_pass IS 'optimal: now and then move towards the cheapest plan; off: do not. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.balance_moves_a_day IS 'Most subnets that passes move in 24 hours. Written by: coordinator for an admin.';
COMMENT ON COLUMN policy.balance_least_gain_ms IS 'What a move of a pass must save at least, in milliseconds a day, unless it relieves an agent. Written by: coordinator for an admin.';

CREATE TABLE moves (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at             timestamptz NOT NULL DEFAULT now(),
    first          inet NOT NULL,
    last           inet NOT NULL,
    from_agent     bigint NOT NULL REFERENCES agents,
    to_agent       bigint NOT NULL REFERENCES agents,
    delegation     bigint NOT NULL UNIQUE REFERENCES delegations,
    rule           text NOT NULL CHECK (rule IN ('variance', 'next_best', 'cheapest', 'optimal')),
    pages_a_day    bigint NOT NULL CHECK (pages_a_day > 0),
    cost_before_ms double precision,
    cost_after_ms  double precision NOT NULL,
    refused        jsonb NOT NULL DEFAULT '[]'
);
CREATE INDEX moves_at ON moves (at);
COMMENT ON TABLE moves IS 'Subnets that balance gave to another agent, for good.';
COMMENT ON COLUMN moves.id IS 'MoveId.';
COMMENT ON COLUMN moves.at IS 'When. Written by: coordinator.';
COMMENT ON COLUMN moves.first IS 'First address of the subnet. Written by: coordinator.';
COMMENT ON COLUMN moves.last IS 'Last address of the subnet. Written by: coordinator.';
COMMENT ON COLUMN moves.from_agent IS 'Who had it. Written by: coordinator.';
COMMENT ON COLUMN moves.to_agent IS 'Who got it. Written by: coordinator.';
COMMENT ON COLUMN moves.delegation IS 'The delegation that came of it. Written by: coordinator.';
COMMENT ON COLUMN moves.rule IS 'The online rule that relieved an agent, or optimal for a move of the periodic pass. Written by: coordinator.';
COMMENT ON COLUMN moves.pages_a_day IS 'Pages a day of the subnet when it was moved. Written by: coordinator.';
COMMENT ON COLUMN moves.cost_before_ms IS 'Its cost where it was, in milliseconds a day; null when nobody had measured that. Written by: coordinator.';
COMMENT ON COLUMN moves.cost_after_ms IS 'Its cost where it is, in milliseconds a day. Written by: coordinator.';
COMMENT ON COLUMN moves.refused IS 'Alternatives that were not taken, each {subnet, agent, cost_ms, why, amount}; why is full (amount: pages a day of room), dearer (amount: milliseconds a day), worth_more or varies. Written by: coordinator.';

CREATE TABLE host_days (
    host     bigint NOT NULL REFERENCES hosts,
    day      date NOT NULL,
    fetches  bigint NOT NULL,
    PRIMARY KEY (host, day)
);
CREATE INDEX host_days_day ON host_days (day);
COMMENT ON TABLE host_days IS 'What was fetched from each host on each of the last days: the measured load of subnets. Older rows are deleted.';
COMMENT ON COLUMN host_days.host IS 'The host. Written by: coordinator at integration.';
COMMENT ON COLUMN host_days.day IS 'Day of the integration (UTC). Written by: coordinator at integration.';
COMMENT ON COLUMN host_days.fetches IS 'Fetches reported, whatever their outcome. Written by: coordinator at integration.';
CREATE INDEX packages_integrated ON packages (integrated_at, agent) WHERE integrated_at IS NOT NULL;
