-- Bundles with which hosts are handed over to their next agents.

CREATE TABLE host_bundles (
    handover    bigint PRIMARY KEY,
    host        bigint NOT NULL REFERENCES hosts,
    agent       bigint NOT NULL REFERENCES agents,
    object      text NOT NULL,
    bytes       bigint NOT NULL CHECK (bytes >= 0),
    received_at timestamptz NOT NULL
);
CREATE INDEX host_bundles_host ON host_bundles (host);
CREATE INDEX host_bundles_received_at ON host_bundles (received_at);
COMMENT ON TABLE host_bundles IS
    'What former agents knew of hosts; a row goes when the next agent has taken the bundle, or '
    'after 30 days. Grows with the hosts that are on their way to another agent.';
COMMENT ON COLUMN host_bundles.handover IS
    'The order with which the agent released the host; its row in handovers may be forgotten '
    'first. Written by: coordinator.';
COMMENT ON COLUMN host_bundles.host IS 'The host. Written by: coordinator.';
COMMENT ON COLUMN host_bundles.agent IS
    'The agent that sent the bundle. Written by: coordinator.';
COMMENT ON COLUMN host_bundles.object IS
    'Key of the bundle in the storage for packages. Written by: coordinator.';
COMMENT ON COLUMN host_bundles.bytes IS 'Its size. Written by: coordinator.';
COMMENT ON COLUMN host_bundles.received_at IS 'When it was stored. Written by: coordinator.';

COMMENT ON COLUMN handovers.task IS
    'release: give the host up, with a bundle for the next agent or by handing its URLs back; '
    'settle: forget how fast its pages used to be. Written by: coordinator.';
