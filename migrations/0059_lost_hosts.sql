-- Hosts that lost their agent with all that it knew of them.

CREATE TABLE lost_hosts (
    host      bigint PRIMARY KEY REFERENCES hosts,
    lost_at   timestamptz NOT NULL,
    queued_to text NOT NULL DEFAULT ''
);
COMMENT ON TABLE lost_hosts IS
    'Hosts that were freed without a bundle for their next agent. The leader queues their pages in '
    'its index for that agent; then the row goes. Grows with the hosts of agents that are lost.';
COMMENT ON COLUMN lost_hosts.host IS 'The host. Written by: coordinator.';
COMMENT ON COLUMN lost_hosts.lost_at IS 'When it was freed. Written by: coordinator.';
COMMENT ON COLUMN lost_hosts.queued_to IS
    'The last URL that was queued; empty before the first. Written by: coordinator.';
