-- Open searches of subnets without an agent that have an unanswered order, or were opened after $1.
SELECT s.first, s.last FROM searches s
WHERE s.state = 'open'
  AND (s.opened_at > $1
       OR EXISTS (SELECT FROM probes p WHERE p.search = s.id AND p.state = 'asked'))
  -- As in undelegated_subnets.sql: a join would read every delegation.
  AND (SELECT d.id FROM delegations d
       WHERE d.first = s.first AND d.last = s.last AND d.ended_at IS NULL) IS NULL
