-- Statement.
SELECT count(*) AS total,
    count(*) FILTER (WHERE provisional) AS provisional,
    count(*) FILTER (WHERE reason = 'home') AS home,
    count(*) FILTER (WHERE reason = 'company') AS company,
    count(*) FILTER (WHERE reason = 'threshold') AS threshold,
    count(*) FILTER (WHERE reason = 'lowest') AS lowest,
    count(*) FILTER (WHERE reason = 'predicted') AS predicted,
    count(*) FILTER (WHERE reason = 'pinned') AS pinned,
    count(*) FILTER (WHERE reason = 'override') AS override,
    count(*) FILTER (WHERE reason = 'balanced') AS balanced
FROM delegations WHERE ended_at IS NULL
