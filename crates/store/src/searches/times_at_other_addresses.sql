-- What searches measured in the subnets of these at other addresses than theirs, the newest of
-- each agent and address, where the agent is still.
SELECT w.id, o.target, o.agent, o.rtt_us
FROM unnest($1::bigint[], $2::inet[], $3::inet[], $4::inet[]) AS w (id, first, last, target)
CROSS JOIN LATERAL (
   SELECT DISTINCT ON (s.target, p.agent) s.target, p.agent, p.rtt_us
   FROM searches s JOIN probes p ON p.search = s.id AND p.state = 'measured'
   JOIN agents a ON a.id = p.agent AND p.answered_at >= coalesce(a.home_since, '-infinity')
   WHERE s.first = w.first AND s.last = w.last AND s.target <> w.target
   ORDER BY s.target, p.agent, p.id DESC LIMIT $5
) AS o
