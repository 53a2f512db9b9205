-- URLs that wait for an agent, those on their way to one, orders to agents about their hosts, and
-- questions of people about URLs.

CREATE TABLE pending_urls (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host      bigint NOT NULL REFERENCES hosts DEFERRABLE INITIALLY DEFERRED,
    url       text NOT NULL,
    redirects smallint NOT NULL DEFAULT 0,
    agent     bigint,
    UNIQUE (host, url)
);
CREATE INDEX pending_urls_routable ON pending_urls (agent, id) WHERE agent IS NOT NULL;
COMMENT ON TABLE pending_urls IS
    'URLs that wait until their host has an agent; a row goes when the URL is routed. Grows with '
    'what is discovered faster than it can be routed.';
COMMENT ON COLUMN pending_urls.id IS 'Order of arrival.';
COMMENT ON COLUMN pending_urls.host IS 'The URL''s host. Written by: coordinator.';
COMMENT ON COLUMN pending_urls.url IS 'Absolute, normalised URL. Written by: coordinator.';
COMMENT ON COLUMN pending_urls.redirects IS
    'Redirects followed on the way here. Written by: coordinator.';
COMMENT ON COLUMN pending_urls.agent IS
    'The agent of the host, where the URL can be routed to it; null while the host waits or moves. '
    'Written by: triggers on pending_urls and hosts.';

-- The host is locked: a URL that is queued while its host gets an agent is routed as well. The plan
-- is kept, because it is made for each URL otherwise, and is by index even while tables are small.
CREATE FUNCTION enter_agent_of_url() RETURNS trigger LANGUAGE plpgsql
SET plan_cache_mode = auto SET enable_seqscan = off AS $$
BEGIN
    SELECT agent INTO NEW.agent FROM hosts WHERE id = NEW.host AND state = 'delegated' FOR SHARE;
    RETURN NEW;
END $$;
CREATE TRIGGER pending_urls_agent BEFORE INSERT ON pending_urls
    FOR EACH ROW EXECUTE FUNCTION enter_agent_of_url();

CREATE TABLE routes (
    agent     bigint NOT NULL REFERENCES agents DEFERRABLE INITIALLY DEFERRED,
    seq       bigint NOT NULL,
    url       text NOT NULL,
    redirects smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (agent, seq)
);
-- A move finds the routes of its hosts along this index. The expression is that of the statements
-- queue_routes_again and take_routes_back: scheme and authority of the host. Agents that sleep have
-- thousands of routes each, all of which were read twice for each subnet that moved.
CREATE INDEX routes_by_host ON routes (agent, substring(url FROM '^https?://[^/?#]*'));
COMMENT ON TABLE routes IS
    'URLs on their way to an agent; a row goes when the agent confirms that it stored the URL. At '
    'most some thousand rows an agent.';
COMMENT ON COLUMN routes.agent IS 'The agent that gets the URL. Written by: coordinator.';
COMMENT ON COLUMN routes.seq IS
    'Position in the agent''s list, rising from 1, without gaps but for URLs that were taken back. '
    'Written by: coordinator.';
COMMENT ON COLUMN routes.url IS 'Absolute, normalised URL. Written by: coordinator.';
COMMENT ON COLUMN routes.redirects IS
    'Redirects followed on the way here. Written by: coordinator.';

CREATE TABLE handovers (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host         bigint NOT NULL REFERENCES hosts,
    agent        bigint NOT NULL REFERENCES agents,
    task         text NOT NULL CHECK (task IN ('release', 'settle')),
    asked_at     timestamptz NOT NULL,
    ended_at     timestamptz,
    ending       text
        CHECK (ending IN ('confirmed', 'lapsed', 'revoked', 'replaced')),
    confirmed_at timestamptz,
    lost_results boolean NOT NULL DEFAULT false,
    CHECK ((ended_at IS NULL) = (ending IS NULL))
);
CREATE UNIQUE INDEX handovers_one_open ON handovers (host) WHERE ended_at IS NULL;
CREATE INDEX handovers_to_send ON handovers (agent, id) WHERE confirmed_at IS NULL;
CREATE INDEX handovers_host ON handovers (host, agent);
-- History is deleted in the order in which it ended.
CREATE INDEX handovers_ended ON handovers (ended_at)
    WHERE ended_at IS NOT NULL AND confirmed_at IS NOT NULL;
COMMENT ON TABLE handovers IS
    'Orders to agents about hosts that they have, and how they ended; kept as history of the '
    'agents of a host. Grows with the hosts that move to another agent.';
COMMENT ON COLUMN handovers.id IS 'Names the order in heartbeats.';
COMMENT ON COLUMN handovers.host IS 'The host. Written by: coordinator.';
COMMENT ON COLUMN handovers.agent IS
    'The agent that has the host and gets the order. Written by: coordinator.';
COMMENT ON COLUMN handovers.task IS
    'release: give the host up, with a bundle for the next agent or by handing its URLs back; '
    'settle: forget how fast its pages used to be. Written by: coordinator.';
COMMENT ON COLUMN handovers.asked_at IS 'When the order was made. Written by: coordinator.';
COMMENT ON COLUMN handovers.ended_at IS
    'When the host was free for another agent, or the order over; null until then. Written by: '
    'coordinator.';
COMMENT ON COLUMN handovers.ending IS
    'confirmed: the agent reported that it is done; lapsed: the agent''s lease ended first; '
    'revoked: the agent was revoked; replaced: another order took its place. Null while the order '
    'is open. Written by: coordinator.';
COMMENT ON COLUMN handovers.confirmed_at IS
    'From when on the order is not sent any more: the agent carried it out, or will never ask '
    'again. Null until then, also after its lease ended. Written by: coordinator.';
COMMENT ON COLUMN handovers.lost_results IS
    'Whether results about the host came from the agent after the order had lapsed; they did not '
    'count. Complete once the agent has confirmed the order. Written by: coordinator.';

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
-- What waits of each agent: an agent whose bundles take too much space may not send more.
CREATE INDEX host_bundles_agent ON host_bundles (agent) INCLUDE (bytes);
COMMENT ON TABLE host_bundles IS
    'What former agents knew of hosts; a row goes when the next agent has taken the bundle, or '
    'after 30 days. Grows with the hosts that are on their way to another agent.';
COMMENT ON COLUMN host_bundles.handover IS
    'The order with which the agent released the host; its row in handovers may be forgotten '
    'first. Written by: coordinator.';
COMMENT ON COLUMN host_bundles.host IS 'The host. Written by: coordinator.';
COMMENT ON COLUMN host_bundles.agent IS 'The agent that sent the bundle. Written by: coordinator.';
COMMENT ON COLUMN host_bundles.object IS
    'Key of the bundle in the storage for packages. Written by: coordinator.';
COMMENT ON COLUMN host_bundles.bytes IS 'Its size. Written by: coordinator.';
COMMENT ON COLUMN host_bundles.received_at IS 'When it was stored. Written by: coordinator.';

CREATE TABLE url_questions (
    agent       bigint NOT NULL REFERENCES agents,
    url         text NOT NULL,
    asked_at    timestamptz NOT NULL,
    sent_at     timestamptz,
    answered_at timestamptz,
    answer      jsonb,
    PRIMARY KEY (agent, url)
);
CREATE INDEX url_questions_to_send ON url_questions (agent) WHERE sent_at IS NULL;
CREATE INDEX url_questions_asked_at ON url_questions (asked_at);
COMMENT ON TABLE url_questions IS
    'What people ask agents about URLs. Rows older than an hour are deleted with the next '
    'question: as many as people ask in an hour.';
COMMENT ON COLUMN url_questions.agent IS 'The agent that is asked. Written by: coordinator.';
COMMENT ON COLUMN url_questions.url IS
    'The URL that the question is about. Written by: coordinator for a person.';
COMMENT ON COLUMN url_questions.asked_at IS
    'When it was asked last. Written by: coordinator for a person.';
COMMENT ON COLUMN url_questions.sent_at IS
    'When it went to the agent with a heartbeat''s answer; null before. Written by: coordinator.';
COMMENT ON COLUMN url_questions.answered_at IS
    'When the agent answered last; null before. Written by: coordinator at a heartbeat.';
COMMENT ON COLUMN url_questions.answer IS
    'The last answer, a UrlStatus; null before. Written by: coordinator at a heartbeat.';
