-- Ends a search for a subnet that a pin holds, without a decision.
UPDATE searches s SET state = 'decided', decided_at = $2
WHERE s.id = $1 AND s.state = 'open'
  AND EXISTS (SELECT FROM delegations d JOIN constraints p ON p.id = d.pin
              WHERE d.first = s.first AND d.last = s.last AND d.ended_at IS NULL
                  AND p.ended_at IS NULL)
