-- Opens an incident, unless the agent lives in the subnet or a pin holds it.
INSERT INTO incidents (first, last, agent, delegation, ratio, url, path_ratio, state, opened_at,
    changed_at)
SELECT d.first, d.last, d.agent, d.id, $4, $5, $6, 'checking', $7, $7 FROM delegations d
WHERE d.first = $1 AND d.last = $2 AND d.agent = $3 AND d.ended_at IS NULL
    AND d.reason <> 'home' AND d.pin IS NULL
ON CONFLICT (first, last) WHERE ended_at IS NULL DO NOTHING
