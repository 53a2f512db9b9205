-- The agents that have to release some of these hosts ($1).
SELECT DISTINCT agent FROM hosts WHERE id = ANY($1) AND state = 'moving' AND agent IS NOT NULL
