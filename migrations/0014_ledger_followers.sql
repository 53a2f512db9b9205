-- Every coordinator follows the ledger of packages and keeps an index of its own.

ALTER TABLE package_ledger ADD COLUMN instance uuid NOT NULL DEFAULT gen_random_uuid();
COMMENT ON COLUMN package_ledger.instance IS
    'Identifies this ledger, so that an index made from another one is noticed. Written by: this '
    'migration.';

ALTER TABLE packages ADD COLUMN foreign_hosts text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN packages.foreign_hosts IS
    'Hosts (scheme and authority) of its fetches that were not its agent''s when it was received; '
    'no index contains those fetches. Written by: coordinator when the package is entered.';
