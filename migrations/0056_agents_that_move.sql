-- Agents whose machine moves to another network.
ALTER TABLE agents ADD COLUMN source inet;
ALTER TABLE agents ADD COLUMN source_since timestamptz;
ALTER TABLE agents ADD COLUMN source_until timestamptz;
ALTER TABLE agents ADD COLUMN home_since timestamptz;
COMMENT ON COLUMN agents.source IS
    'Where its heartbeats come from, where that is not its home; null while they come from there. '
    'Written by: coordinator at each heartbeat.';
COMMENT ON COLUMN agents.source_since IS
    'When the first of them came; since then none came from elsewhere by the same protocol, IPv4 '
    'or IPv6. Null where source is. Written by: coordinator at each heartbeat.';
COMMENT ON COLUMN agents.source_until IS
    'When the last of them came. Null where source is. Written by: coordinator at each heartbeat.';
COMMENT ON COLUMN agents.home_since IS
    'When its machine was moved to this home: what it measured before counts no more. Null where '
    'it never moved. Written by: coordinator.';
COMMENT ON COLUMN agents.home IS
    'Home address: the source address seen at enrolment, or the one from which its heartbeats came '
    'for a day. Written by: coordinator.';
