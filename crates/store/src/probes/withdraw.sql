-- Takes orders back from agents that sleep or are paused; they may be asked again another time.
DELETE FROM probes p USING agents a
WHERE p.agent = a.id AND p.state = 'asked' AND (a.state = 'paused' OR a.asleep_until > $1)
