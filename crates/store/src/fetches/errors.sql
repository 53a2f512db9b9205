-- Errors of hosts with the names of hosts and agents. The present time and a condition follow.
SELECT e.host, h.scheme || '://' || h.authority AS name, t.today - e.day AS days_ago, e.kind,
       e.agent, a.name AS agent_name, e.errors, e.url, e.detail, e.at
FROM error_days e JOIN hosts h ON h.id = e.host JOIN agents a ON a.id = e.agent,
     (SELECT (
