-- Whether a host that was taken from its agent has results that did not count.

ALTER TABLE handovers ADD COLUMN lost_results boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN handovers.lost_results IS
    'Whether results about the host came from the agent after the order had lapsed; they did not '
    'count. Complete once the agent has confirmed the order. Written by: coordinator.';
-- Of orders that lapsed earlier nobody knows.
UPDATE handovers SET lost_results = true WHERE ending = 'lapsed';
