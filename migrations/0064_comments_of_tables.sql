-- Comments that no longer said what the tables have and what they grow with.

COMMENT ON TABLE audit IS
    'Changes that people made, and subnets that balance, drains, pins and regions moved; kept for '
    'good. Grows with both.';
COMMENT ON TABLE round_trips IS
    'The shortest TCP round trip among an agent''s fetches from an address, which shows subnets '
    'that are in several places. Grows with the addresses that are fetched from.';
COMMENT ON TABLE unregistered_subnets IS
    'Ranges of address space that no registry has assigned, each made a virtual subnet because a '
    'host has an address there. Every generation of the hierarchy gets the parts of them that are '
    'still unassigned. Grows with the hosts there, up to the limit of the configuration.';
COMMENT ON TABLE stray_hosts IS
    'Hosts that their agents last found outside of their subnets. A package with an address inside '
    'deletes the row. Grows with the hosts that move.';
