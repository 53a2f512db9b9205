-- A move finds the routes of its hosts along this index. The expression is that of the statements
-- queue_routes_again and take_routes_back: scheme and authority of the host. Agents that sleep have
-- thousands of routes each, all of which were read twice for each subnet that moved.
CREATE INDEX routes_by_host ON routes (agent, substring(url FROM '^https?://[^/?#]*'));
