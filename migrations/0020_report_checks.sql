-- Checks of what agents report: control probes, round trips to home addresses, and trust.

ALTER TABLE policy ADD COLUMN control_permille smallint NOT NULL DEFAULT 10
    CHECK (control_permille BETWEEN 0 AND 1000);
COMMENT ON COLUMN policy.control_permille IS
    'How many of a thousand decided searches a second agent checks, when the chosen agent is '
    'trusted. Written by: coordinator for an admin.';

ALTER TABLE probes DROP CONSTRAINT probes_phase_check;
ALTER TABLE probes ADD CONSTRAINT probes_phase_check
    CHECK (phase IN ('company', 'sibling', 'sibling_child', 'rest', 'predicted', 'control'));
COMMENT ON COLUMN probes.phase IS
    'Why this agent was a candidate: it holds a subnet of the company, a sibling, something '
    'below a sibling; rest: nothing here, asked so that no agent is left out; predicted: it '
    'was the most likely to be nearest; control: it checks the report of the agent that was to '
    'be chosen. Null for other purposes. Written by: coordinator.';
ALTER TABLE probes DROP CONSTRAINT probes_purpose_check;
ALTER TABLE probes ADD CONSTRAINT probes_purpose_check
    CHECK (purpose IN ('search', 'landmark', 'check', 'home'));
COMMENT ON COLUMN probes.purpose IS
    'search: a step of a search; landmark: an agent measures a landmark; check: calibration '
    'measures an address; home: an agent measures the home address of another. Written by: '
    'coordinator.';
ALTER TABLE probes ADD COLUMN home_of bigint REFERENCES agents;
ALTER TABLE probes ADD CONSTRAINT probes_of_home CHECK ((purpose = 'home') = (home_of IS NOT NULL));
COMMENT ON COLUMN probes.home_of IS
    'The agent whose home address is measured; null for other purposes. Written by: '
    'coordinator.';
CREATE UNIQUE INDEX probes_home_asked ON probes (home_of, agent)
    WHERE state = 'asked' AND purpose = 'home';

CREATE TABLE home_times (
    agent       bigint NOT NULL REFERENCES agents,
    witness     bigint NOT NULL REFERENCES agents,
    home        inet NOT NULL,
    rtt_us      integer,
    measured_at timestamptz NOT NULL,
    PRIMARY KEY (agent, witness)
);
COMMENT ON TABLE home_times IS
    'What agents last measured to the home addresses of other agents. Reports of an agent must '
    'agree with them. It grows with the agents: some witnesses of each.';
COMMENT ON COLUMN home_times.agent IS
    'The agent whose home address it is. Written by: coordinator from the report.';
COMMENT ON COLUMN home_times.witness IS
    'The agent that measured. Written by: coordinator from the report.';
COMMENT ON COLUMN home_times.home IS
    'The address that was measured; another one counts for nothing once the agent has moved. '
    'Written by: coordinator from the order.';
COMMENT ON COLUMN home_times.rtt_us IS
    'Smallest round trip in microseconds; null when the address did not answer. Written by: '
    'coordinator from the report.';
COMMENT ON COLUMN home_times.measured_at IS
    'When the report came. Written by: coordinator.';

ALTER TABLE landmark_times ADD COLUMN judged boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN landmark_times.judged IS
    'Whether the report counts in the trust of its agent already. Written by: coordinator.';

CREATE TABLE agent_trust (
    agent     bigint PRIMARY KEY REFERENCES agents,
    tests     jsonb NOT NULL,
    evidence  jsonb NOT NULL DEFAULT '[]',
    paused_at timestamptz,
    finding   text,
    CONSTRAINT agent_trust_finding CHECK ((paused_at IS NULL) = (finding IS NULL))
);
COMMENT ON TABLE agent_trust IS
    'How far the reports of an agent can be believed. One row for each agent with judged reports.';
COMMENT ON COLUMN agent_trust.agent IS 'The agent. Written by: coordinator.';
COMMENT ON COLUMN agent_trust.tests IS
    'The sequential tests on its reports; null when an admin has reset them. Written by: '
    'coordinator when reports are judged.';
COMMENT ON COLUMN agent_trust.evidence IS
    'Its newest contradicted reports, at most 20, the newest last. Written by: coordinator when '
    'reports are judged.';
COMMENT ON COLUMN agent_trust.paused_at IS
    'When the coordinator paused the agent because of its reports; null otherwise. Written by: '
    'coordinator.';
COMMENT ON COLUMN agent_trust.finding IS
    'Why, as a sentence with the numbers; null otherwise. Written by: coordinator.';
