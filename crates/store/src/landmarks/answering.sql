-- Subnets whose address answered an agent in a search that was decided, the newest `limit` of
-- them.
SELECT DISTINCT ON (s.first, s.last) s.first, s.last, s.target, s.target_host, s.target_port
FROM (SELECT * FROM searches WHERE state = 'decided' ORDER BY id DESC LIMIT $2) AS s
WHERE s.finding IS NULL
  AND EXISTS (SELECT FROM probes p WHERE p.search = s.id AND p.state = 'measured')
  AND NOT EXISTS (SELECT FROM silent_addresses a WHERE a.address = s.target)
  AND NOT EXISTS (SELECT FROM landmarks l
                  WHERE l.first = s.first AND l.last = s.last AND l.retired_at > $1)
ORDER BY s.first, s.last, s.id DESC
