-- One host each of those of the subnets that have one with an address: the one with the most pages.
-- Left out are subnets with an open search, and those that were searched for after $3. A search
-- without any answer has asked every agent, so it is not repeated before $4. Searches before the
-- present delegation, and before the end of its pin, do not count.
SELECT DISTINCT ON (h.first, h.last) h.first, h.last, h.address, h.scheme, h.authority
FROM unnest($1::inet[], $2::inet[]) AS w (first, last)
JOIN hosts h ON h.first = w.first AND h.last = w.last
CROSS JOIN LATERAL (
    SELECT coalesce((SELECT greatest(d.decided_at, p.ended_at)
                     FROM delegations d LEFT JOIN constraints p ON p.id = d.pin
                     WHERE d.first = w.first AND d.last = w.last AND d.ended_at IS NULL),
                    '-infinity') AS at
) AS settled
WHERE h.address IS NOT NULL AND h.state IN ('resolved', 'delegated', 'moving')
  AND NOT EXISTS (SELECT FROM searches s WHERE s.first = w.first AND s.last = w.last
                  AND (s.state = 'open' OR s.opened_at > greatest($3, settled.at)))
  AND NOT EXISTS (
      SELECT FROM (SELECT s.id, s.opened_at, s.decided_at FROM searches s
                   WHERE s.first = w.first AND s.last = w.last
                   ORDER BY s.id DESC LIMIT 1) AS last
      WHERE last.opened_at > settled.at AND last.decided_at > $4
        AND EXISTS (SELECT FROM probes p WHERE p.search = last.id)
        AND NOT EXISTS (SELECT FROM probes p WHERE p.search = last.id AND p.state = 'measured'))
ORDER BY h.first, h.last, h.pages DESC, h.id
