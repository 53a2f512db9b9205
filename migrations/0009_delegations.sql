-- Which agent crawls which subnet; what admins decided beforehand; what balance moved.

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
-- A scope that is pinned twice would belong to two agents; an exclusion that exists twice would
-- have two ends.
CREATE UNIQUE INDEX constraints_one_pin
    ON constraints (scope, first, last, registry, handle) NULLS NOT DISTINCT
    WHERE kind = 'pin' AND ended_at IS NULL;
CREATE UNIQUE INDEX constraints_one_exclusion
    ON constraints (scope, first, last, registry, handle, country, agent) NULLS NOT DISTINCT
    WHERE kind = 'exclusion' AND ended_at IS NULL;
COMMENT ON TABLE constraints IS
    'Pins (this agent crawls it) and exclusions (this agent never does). Kept as history when '
    'over. One row a decision of an admin.';
COMMENT ON COLUMN constraints.id IS 'PinId or ExclusionId.';
COMMENT ON COLUMN constraints.kind IS 'pin or exclusion. Written by: coordinator for an admin.';
COMMENT ON COLUMN constraints.scope IS
    'range: every subnet that lies in it; company: every subnet it holds; country: every subnet '
    'registered there (exclusions only). Written by: coordinator for an admin.';
COMMENT ON COLUMN constraints.first IS
    'First address of a range; null otherwise. Written by: coordinator for an admin, and when a '
    'new generation of the hierarchy moves the range.';
COMMENT ON COLUMN constraints.last IS
    'Last address of a range; null otherwise. Written by: coordinator, as first.';
COMMENT ON COLUMN constraints.registry IS
    'Registry that knows the company; null otherwise. Written by: coordinator for an admin.';
COMMENT ON COLUMN constraints.handle IS
    'The company''s handle at that registry; null otherwise. Written by: coordinator for an admin.';
COMMENT ON COLUMN constraints.country IS
    'Two letters; null otherwise. Written by: coordinator for an admin.';
COMMENT ON COLUMN constraints.agent IS
    'The agent that is pinned there or excluded from there. Written by: coordinator for an admin.';
COMMENT ON COLUMN constraints.reason IS
    'Why, in the admin''s words. Written by: coordinator for an admin.';
COMMENT ON COLUMN constraints.created_by IS 'Admin who made it. Written by: coordinator.';
COMMENT ON COLUMN constraints.created_at IS 'When it was made. Written by: coordinator.';
COMMENT ON COLUMN constraints.expires_at IS
    'It counts until then; null: until it is removed. Written by: coordinator for an admin.';
COMMENT ON COLUMN constraints.ended_at IS
    'When it was removed or had expired; null while it counts. Written by: coordinator.';
COMMENT ON COLUMN constraints.ended_by IS
    'Admin who removed it, or coordinator when it had expired or its agent was revoked; null while '
    'it counts. Written by: coordinator.';

CREATE TABLE delegations (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    first          inet NOT NULL,
    last           inet NOT NULL,
    agent          bigint NOT NULL REFERENCES agents DEFERRABLE INITIALLY DEFERRED,
    fencing_number bigint NOT NULL,
    reason         text NOT NULL
        CHECK (reason IN ('home', 'company', 'threshold', 'lowest', 'predicted', 'pinned',
                          'override', 'balanced', 'drained', 'takeover')),
    provisional    boolean NOT NULL DEFAULT false,
    search         bigint REFERENCES searches DEFERRABLE INITIALLY DEFERRED,
    rtt_us         integer,
    decided_at     timestamptz NOT NULL DEFAULT now(),
    known_since    timestamptz NOT NULL,
    generation     integer,
    ended_at       timestamptz,
    range_change   text
        CHECK (range_change IN ('transferred', 'split', 'merged', 'vanished', 'same')),
    remapped_from  bigint REFERENCES delegations,
    taken_from     bigint REFERENCES agents DEFERRABLE INITIALLY DEFERRED,
    pin            bigint REFERENCES constraints,
    assigned_by    text,
    note           text,
    UNIQUE (first, last, fencing_number)
);
CREATE UNIQUE INDEX delegations_one_owner ON delegations (first, last) WHERE ended_at IS NULL;
-- Lists, the newest first: of an agent; for one reason, which may be rare, such as home.
CREATE INDEX delegations_of_agent ON delegations (agent, id DESC) WHERE ended_at IS NULL;
CREATE INDEX delegations_of_reason ON delegations (reason, id DESC) WHERE ended_at IS NULL;
-- Delegations in the order of their round trips.
CREATE INDEX delegations_slowest ON delegations (rtt_us DESC, id DESC)
    WHERE ended_at IS NULL AND rtt_us IS NOT NULL;
-- Provisional delegations, of which there are few: those without a search are looked for often.
CREATE INDEX delegations_provisional ON delegations (id) WHERE ended_at IS NULL AND provisional;
CREATE INDEX delegations_pinned ON delegations (pin) WHERE ended_at IS NULL AND pin IS NOT NULL;
CREATE INDEX delegations_taken_from ON delegations (taken_from)
    WHERE ended_at IS NULL AND taken_from IS NOT NULL;
-- History is deleted in the order in which it ended, and found by what refers to it.
CREATE INDEX delegations_ended ON delegations (ended_at, id) WHERE ended_at IS NOT NULL;
CREATE INDEX delegations_search ON delegations (search) WHERE search IS NOT NULL;
CREATE INDEX delegations_remapped_from ON delegations (remapped_from)
    WHERE remapped_from IS NOT NULL;
COMMENT ON TABLE delegations IS
    'Which agent crawls which subnet; ended ones are kept as history. Grows with the subnets that '
    'have hosts and with their moves; ended ones are deleted as the configuration says.';
COMMENT ON COLUMN delegations.id IS 'DelegationId.';
COMMENT ON COLUMN delegations.first IS 'First address of the subnet. Written by: coordinator.';
COMMENT ON COLUMN delegations.last IS
    'Last address of the subnet, inclusive. Written by: coordinator.';
COMMENT ON COLUMN delegations.agent IS 'The agent that crawls it. Written by: coordinator.';
COMMENT ON COLUMN delegations.fencing_number IS
    '1 for the first delegation of a subnet, then one more each time. Written by: '
    'coordinator.';
COMMENT ON COLUMN delegations.reason IS
    'home: the subnet of its own address; company: it serves the company and is fast enough; '
    'threshold: first fast enough; lowest: none fast enough; predicted: no other agent is likely '
    'enough to be nearer; pinned: a pin holds it there; override: an admin reassigned it once; '
    'balanced: the load was spread; drained: its former agent is drained; takeover: its region '
    'fetches it in place of a dead member. Written by: coordinator.';
COMMENT ON COLUMN delegations.provisional IS
    'True when a better candidate may have been missed because it slept or did not answer. Written '
    'by: coordinator.';
COMMENT ON COLUMN delegations.search IS
    'The search that decided it; for other reasons the one that last measured the subnet. Null '
    'where none did. Written by: coordinator.';
COMMENT ON COLUMN delegations.rtt_us IS
    'The agent''s measured round trip, in microseconds; null where none is known. Written by: '
    'coordinator.';
COMMENT ON COLUMN delegations.decided_at IS 'When it began. Written by: coordinator.';
COMMENT ON COLUMN delegations.known_since IS
    'When the subnet was first delegated, or the one that it was a part of. Written by: trigger.';
COMMENT ON COLUMN delegations.generation IS
    'The generation of the hierarchy that was live when the delegation began; null where none was '
    'live. Written by: coordinator.';
COMMENT ON COLUMN delegations.ended_at IS
    'When another delegation took its place; null while it holds. Written by: coordinator.';
COMMENT ON COLUMN delegations.range_change IS
    'What became of the range when a new generation of the hierarchy ended the delegation; null '
    'otherwise. Written by: coordinator.';
COMMENT ON COLUMN delegations.remapped_from IS
    'The delegation that a new generation of the hierarchy moved here; null otherwise. Written by: '
    'coordinator.';
COMMENT ON COLUMN delegations.taken_from IS
    'The member of the region that it is returned to when that member works again; null unless its '
    'reason is takeover. Written by: coordinator (take_over_subnets).';
COMMENT ON COLUMN delegations.pin IS
    'The pin that holds it there; null otherwise. Written by: coordinator.';
COMMENT ON COLUMN delegations.assigned_by IS
    'Admin who pinned or overrode it; null otherwise. Written by: coordinator.';
COMMENT ON COLUMN delegations.note IS
    'Why, in the admin''s words; null when no admin assigned it. Written by: coordinator.';

-- A subnet that is visited once a week has fetches on one day of seven: its load is divided by the
-- days for which it is known. A trigger, so that no way of delegating a subnet can forget them.
CREATE FUNCTION keep_known_since() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.known_since := least(
        NEW.decided_at,
        (SELECT d.known_since FROM delegations d
         WHERE d.first = NEW.first AND d.last = NEW.last ORDER BY d.fencing_number DESC LIMIT 1),
        (SELECT d.known_since FROM delegations d WHERE d.id = NEW.remapped_from));
    RETURN NEW;
END $$;
CREATE TRIGGER delegations_known_since BEFORE INSERT ON delegations
    FOR EACH ROW EXECUTE FUNCTION keep_known_since();

CREATE TABLE moves (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at             timestamptz NOT NULL DEFAULT now(),
    first          inet NOT NULL,
    last           inet NOT NULL,
    from_agent     bigint NOT NULL REFERENCES agents,
    to_agent       bigint NOT NULL REFERENCES agents,
    delegation     bigint NOT NULL UNIQUE REFERENCES delegations,
    rule           text NOT NULL
        CHECK (rule IN ('variance', 'next_best', 'cheapest', 'optimal')),
    is_relief      boolean NOT NULL DEFAULT false,
    pages_a_day    bigint NOT NULL CHECK (pages_a_day > 0),
    cost_before_ms double precision,
    cost_after_ms  double precision NOT NULL,
    refused        jsonb NOT NULL DEFAULT '[]'
);
CREATE INDEX moves_at ON moves (at);
COMMENT ON TABLE moves IS
    'Subnets that balance gave to another agent. Grows with the moves; deleted with the delegation '
    'that the move began.';
COMMENT ON COLUMN moves.id IS 'MoveId.';
COMMENT ON COLUMN moves.at IS 'When it was made. Written by: coordinator.';
COMMENT ON COLUMN moves.first IS 'First address of the subnet. Written by: coordinator.';
COMMENT ON COLUMN moves.last IS 'Last address of the subnet, inclusive. Written by: coordinator.';
COMMENT ON COLUMN moves.from_agent IS 'The agent that had it. Written by: coordinator.';
COMMENT ON COLUMN moves.to_agent IS 'The agent that got it. Written by: coordinator.';
COMMENT ON COLUMN moves.delegation IS 'The delegation that came of it. Written by: coordinator.';
COMMENT ON COLUMN moves.rule IS
    'The online rule that relieved an agent, or optimal for a move of the periodic pass. Written '
    'by: coordinator.';
COMMENT ON COLUMN moves.is_relief IS
    'Whether it relieved an agent. With the rule optimal, it is one of several moves that did so '
    'only together. Written by: coordinator.';
COMMENT ON COLUMN moves.pages_a_day IS
    'Pages a day of the subnet when it was moved. Written by: coordinator.';
COMMENT ON COLUMN moves.cost_before_ms IS
    'Its cost at its former agent, in milliseconds a day; null when it was not measured. Written '
    'by: coordinator.';
COMMENT ON COLUMN moves.cost_after_ms IS
    'Its cost at its new agent, in milliseconds a day. Written by: coordinator.';
COMMENT ON COLUMN moves.refused IS
    'Alternatives that were not taken, each {subnet, agent, cost_ms, why, amount}; why is full '
    '(amount: pages a day that the agent could still take), dearer (amount: milliseconds a day), '
    'worth_more or varies. Written by: coordinator.';
