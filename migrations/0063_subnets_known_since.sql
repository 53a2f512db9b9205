-- Since when each delegated subnet is known: the divisor of its load. A subnet that is visited once
-- a week has fetches on one day of seven.

ALTER TABLE delegations ADD COLUMN known_since timestamptz;
COMMENT ON COLUMN delegations.known_since IS
    'When the subnet was first delegated, or the one that it was a part of. Written by: trigger.';

UPDATE delegations d SET known_since = f.since
FROM (SELECT first, last, min(decided_at) AS since FROM delegations GROUP BY first, last) f
WHERE d.first = f.first AND d.last = f.last AND d.ended_at IS NULL;

-- A trigger, so that no way of delegating a subnet can forget it.
CREATE FUNCTION keep_known_since() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.known_since := least(
        NEW.decided_at,
        (SELECT d.known_since FROM delegations d
         WHERE d.first = NEW.first AND d.last = NEW.last ORDER BY d.generation DESC LIMIT 1),
        (SELECT d.known_since FROM delegations d WHERE d.id = NEW.remapped_from));
    RETURN NEW;
END $$;
CREATE TRIGGER delegations_known_since BEFORE INSERT ON delegations
    FOR EACH ROW EXECUTE FUNCTION keep_known_since();
