-- What each table grows with, the index of due lookups that migration 18 replaced, and indexes for
-- tasks and for the deletion of history.

-- The metrics ask for the lookup that has waited longest; hosts_lookups is by source.
CREATE INDEX hosts_due ON hosts (retry_at) WHERE state = 'unresolved';

COMMENT ON TABLE settings IS 'Small facts of this installation. A few rows.';
COMMENT ON TABLE generations IS
    'Loaded versions of the hierarchy. At most one is live. The load after the next deletes them: '
    'at most three rows.';
COMMENT ON TABLE companies IS
    'Holders of subnets, by generation. Grows with the registries; the load after the next deletes '
    'a generation.';
COMMENT ON TABLE subnets IS
    'The hierarchy: inclusive address ranges by containment, in pre-order, by generation. Grows '
    'with the registries; the load after the next deletes a generation.';
COMMENT ON TABLE admins IS 'People who may sign in. One row a person.';
COMMENT ON TABLE admin_sessions IS 'Signed-in browsers. A few rows an admin.';
COMMENT ON TABLE audit IS
    'Changes that people made; kept for good. Grows with what people do, a few rows a day.';
COMMENT ON TABLE agents IS 'Crawlers at partners. One row an agent; rows are never deleted.';
COMMENT ON TABLE join_tokens IS
    'One-time tokens with which an owner enrols an agent. One row an invitation.';
COMMENT ON TABLE hosts IS
    'Web hosts that were seen in a URL. Grows with the web; never deleted.';
COMMENT ON TABLE pending_urls IS
    'URLs that wait until their host has an agent; a row goes when the URL is routed. Grows with '
    'what is discovered faster than it can be routed.';
COMMENT ON TABLE routes IS
    'URLs on their way to an agent; a row goes when the agent confirms that it stored the URL. At '
    'most some thousand rows an agent.';
COMMENT ON TABLE handovers IS
    'Orders to agents about hosts that they have, and how they ended; kept as history of the '
    'agents of a host. Grows with the hosts that move to another agent.';
COMMENT ON TABLE silent_addresses IS
    'Addresses that answered no agent of a search; another address of the subnet is probed in '
    'their place for a while. Grows with the searches.';
COMMENT ON TABLE searches IS
    'Searches for the agent that shall crawl a subnet. The trail of a search is its probes. Grows '
    'with the subnets that have hosts; kept as long as the delegation that it decided.';
COMMENT ON TABLE landmarks IS
    'Subnets that every agent measures periodically; the predictive strategy compares others with '
    'them. As many live rows as the policy allows, and those that were replaced.';
COMMENT ON TABLE landmark_times IS
    'What each agent last measured at each landmark. Grows with agents times landmarks.';
COMMENT ON TABLE probes IS
    'Round trips asked for and measured. Grows with the searches, whose probes are kept as long as '
    'they; ended orders of landmarks are deleted after two days.';
COMMENT ON TABLE constraints IS
    'Pins (this agent crawls it) and exclusions (this agent never does). Kept as history when '
    'over. One row a decision of an admin.';
COMMENT ON TABLE delegations IS
    'Which agent crawls which subnet; ended ones are kept as history. Grows with the subnets that '
    'have hosts and with their moves; ended ones are deleted as the configuration says.';
COMMENT ON TABLE moves IS
    'Subnets that balance gave to another agent. Grows with the moves; deleted with the delegation '
    'that the move began.';
COMMENT ON TABLE packages IS
    'Ledger of packages: each is ingested exactly once. Grows with the packages that agents send; '
    'kept for good, because each coordinator builds its index from it.';
COMMENT ON TABLE timing_reports IS
    'How fast the pages of a subnet answered recently, as its agent reports it. Grows with the '
    'subnets that are fetched from; one row a subnet.';
COMMENT ON TABLE incidents IS
    'Subnets whose pages became slower: what was found out, where the subnet went, and whether it '
    'came back. Ended ones are kept as history. Grows with the incidents.';
COMMENT ON TABLE round_trips IS
    'The shortest TCP round trip among an agent''s fetches from an address; the predictive '
    'strategy learns from them as it does from probes. Grows with the addresses that are fetched '
    'from.';
COMMENT ON TABLE subnet_splits IS
    'Pieces of subnets whose addresses are in different places. Each new generation has them as '
    'virtual subnets. Grows with the subnets that are split.';

-- The newest split is asked for by a task.
CREATE INDEX subnet_splits_found_at ON subnet_splits (found_at);

-- History is deleted in the order in which it ended, and found by what refers to it.
CREATE INDEX delegations_ended ON delegations (ended_at, id) WHERE ended_at IS NOT NULL;
CREATE INDEX delegations_search ON delegations (search) WHERE search IS NOT NULL;
CREATE INDEX delegations_remapped_from ON delegations (remapped_from)
    WHERE remapped_from IS NOT NULL;
CREATE INDEX incidents_delegation ON incidents (delegation);
CREATE INDEX incidents_search ON incidents (search) WHERE search IS NOT NULL;
CREATE INDEX incidents_probe ON incidents (probe) WHERE probe IS NOT NULL;
CREATE INDEX subnet_splits_search ON subnet_splits (search) WHERE search IS NOT NULL;
CREATE INDEX handovers_ended ON handovers (ended_at)
    WHERE ended_at IS NOT NULL AND confirmed_at IS NOT NULL;
