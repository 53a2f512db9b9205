-- Withdraws orders from agents that are asleep or paused, or carry out no orders now.
DELETE FROM probes p USING agents a
WHERE p.agent = a.id AND p.state = 'asked'
  AND (a.state = 'paused' OR a.asleep_until > $1 OR NOT a.takes_probes)
