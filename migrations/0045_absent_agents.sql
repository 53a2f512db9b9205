-- Explanations name agents that were away for more than a day.
COMMENT ON COLUMN searches.skipped IS
    'Agents that were skipped when the search decided, each {agent, why}; why is asleep, '
    'unreachable, absent, idle, busy, excluded, budget or drained. Written by: coordinator with '
    'the decision.';
