-- Gives those of these hosts ($1) that wait to the agent that has their subnet. Earlier searches
-- without an answer say nothing any more.
UPDATE hosts h SET state = 'delegated', agent = d.agent, attempts = 0, silences = 0,
       reason = NULL
FROM delegations d
WHERE h.id = ANY($1) AND h.state = 'resolved'
  AND d.first = h.first AND d.last = h.last AND d.ended_at IS NULL
