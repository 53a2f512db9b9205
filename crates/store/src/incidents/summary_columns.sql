-- Columns of an incident with the names of its agents.
SELECT c.id, c.first, c.last, c.agent, a.name AS agent_name, c.ratio, c.url, c.state,
       c.opened_at, c.moved_at, c.returned_at, c.ended_at,
       c.control_probe, w.name AS control_agent_name, c.before_us, c.now_us,
       c.next_agent, h.name AS next_agent_name
FROM incidents c JOIN agents a ON a.id = c.agent
LEFT JOIN agents w ON w.id = c.control_probe
LEFT JOIN agents h ON h.id = c.next_agent
