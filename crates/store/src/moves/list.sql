-- Moves with a number below `before`, the newest first.
SELECT m.id, m.at, m.first, m.last, m.from_agent, f.name AS from_name, m.to_agent,
       t.name AS to_name, m.delegation, m.rule, m.is_relief, m.pages_a_day, m.cost_before_ms,
       m.cost_after_ms, m.refused
FROM moves m JOIN agents f ON f.id = m.from_agent JOIN agents t ON t.id = m.to_agent
WHERE m.id < $1 ORDER BY m.id DESC LIMIT $2
