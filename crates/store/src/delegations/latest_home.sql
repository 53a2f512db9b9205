-- Latest fencing number of a home subnet, and whether an agent that lives there holds it, or its
-- region while the agent is dead.
SELECT coalesce(max(fencing_number), 0),
       coalesce(bool_or(reason IN ('home', 'takeover') AND ended_at IS NULL), false)
FROM delegations WHERE first = $1 AND last = $2
