-- Delegations by their numbers, also some that ended.
WHERE d.id = ANY ($1)
