-- Delegations that hold and pass the filter; the order follows.
WHERE d.ended_at IS NULL
  AND ($3::bigint IS NULL OR d.agent = $3)
  AND ($4::text IS NULL OR d.reason = $4)
  AND ($5::inet IS NULL OR (family(d.first) = family($5) AND d.first <= $6 AND d.last >= $5))
