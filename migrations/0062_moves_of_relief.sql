-- Tells moves that relieve an agent from those of passes, which have a limit a day.

ALTER TABLE moves ADD COLUMN is_relief boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN moves.is_relief IS
    'Whether it relieved an agent. With the rule optimal, it is one of several moves that did so '
    'only together. Written by: coordinator.';
UPDATE moves SET is_relief = true WHERE rule <> 'optimal';
