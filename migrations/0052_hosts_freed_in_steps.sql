-- The hosts of an agent that is revoked or leaves are taken from it in steps; this is how far they
-- have come.
ALTER TABLE agents ADD COLUMN freed_to bigint;
COMMENT ON COLUMN agents.freed_to IS
    'While its hosts are taken from it: the last one that was, in the order of their numbers; 0 '
    'before the first. Null while it has its work, and when all are taken. Written by: coordinator '
    'when the agent is revoked or leaves, and by its task free_hosts.';
