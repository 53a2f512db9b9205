-- Adds a constraint, unless the scope has a pin already, or the agent the same exclusion.
INSERT INTO constraints (kind, scope, first, last, registry, handle, country, agent, reason,
    created_by, created_at,
                      expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING RETURNING id
