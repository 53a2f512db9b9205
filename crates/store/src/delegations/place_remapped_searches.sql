-- Opens again, each at its place, those that are not over.
UPDATE searches s SET first = m.first, last = m.last,
                      state = CASE WHEN m.over THEN 'decided' ELSE 'open' END,
                      decided_at = CASE WHEN m.over THEN s.decided_at END
FROM unnest($1::bigint[], $2::inet[], $3::inet[], $4::bool[]) AS m (id, first, last, over)
WHERE s.id = m.id
