-- Agents that carry out no probe orders for now, although they send heartbeats: their owner paused
-- them, their machine is needed otherwise, a budget is used up or the disk is full. Searches ask
-- others, instead of counting the refused orders as addresses that do not answer.
ALTER TABLE agents ADD COLUMN takes_probes boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN agents.takes_probes IS
    'Whether it carries out probe orders now. Written by: coordinator with each heartbeat.';
COMMENT ON COLUMN searches.skipped IS
    'Agents that were skipped when the search decided, each {agent, why}; why is asleep, '
    'unreachable, idle, busy, excluded, budget or drained. Written by: coordinator with the '
    'decision.';
