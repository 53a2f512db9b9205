-- Virtual subnets are a kind of their own.

ALTER TABLE subnets DROP CONSTRAINT subnets_kind_check;
-- Until now a virtual subnet was a block with a holder; real blocks never have one.
UPDATE subnets SET kind = 'virtual' WHERE kind = 'block' AND company IS NOT NULL;
ALTER TABLE subnets ADD CONSTRAINT subnets_kind_check
    CHECK (kind IN ('root', 'block', 'delegated', 'virtual'));
COMMENT ON COLUMN subnets.kind IS
    'root: all of IPv4 or IPv6; block: grouping of the hierarchy; delegated: a record of a '
    'registry; virtual: a piece of a delegated subnet. Only the last two are given to agents. '
    'Written by: rir-loader.';
