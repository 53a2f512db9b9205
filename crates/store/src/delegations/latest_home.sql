-- Latest generation of a home subnet, and whether an agent that lives there holds it.
SELECT coalesce(max(generation), 0), coalesce(bool_or(reason = 'home' AND ended_at IS NULL), false)
FROM delegations WHERE first = $1 AND last = $2
