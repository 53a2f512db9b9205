-- One host each of those of the subnets that have one with an address: the one with the most
-- pages. A search of a silent subnet asks every agent, so that it is not repeated before $4.
SELECT DISTINCT ON (h.first, h.last) h.first, h.last, h.address, h.scheme, h.authority
FROM unnest($1::inet[], $2::inet[]) AS w (first, last)
JOIN hosts h ON h.first = w.first AND h.last = w.last
WHERE h.address IS NOT NULL AND h.state IN ('resolved', 'delegated', 'moving')
  AND NOT EXISTS (SELECT FROM searches s WHERE s.first = w.first AND s.last = w.last
                                           AND (s.state = 'open' OR s.opened_at > greatest($3,
                    (SELECT greatest(d.decided_at, p.ended_at)
                     FROM delegations d LEFT JOIN constraints p ON p.id = d.pin
                     WHERE d.first = w.first AND d.last = w.last AND d.ended_at IS NULL))))
  AND NOT EXISTS (SELECT FROM searches s
                  WHERE s.first = w.first AND s.last = w.last AND s.decided_at > $4
                    AND EXISTS (SELECT FROM probes p WHERE p.search = s.id)
                    AND NOT EXISTS (SELECT FROM probes p
                                    WHERE p.search = s.id AND p.state = 'measured'))
ORDER BY h.first, h.last, h.pages DESC, h.id
