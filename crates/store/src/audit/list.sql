-- Entries with a number below $1 that fit the filters, the newest first.
SELECT id, at, actor, action, subject, detail
FROM audit
WHERE id < $1
  -- A person alone means also what was done with the person's tokens: ada fits ada (token backup).
  AND ($2::text IS NULL OR actor = $2 OR starts_with(actor, $2 || ' (token '))
  -- A noun alone means all of its verbs: agent fits agent.approve.
  AND ($3::text IS NULL OR action = $3 OR starts_with(action, $3 || '.'))
  AND ($4::text IS NULL OR subject = $4)
  AND ($5::timestamptz IS NULL OR at >= $5)
  AND ($6::timestamptz IS NULL OR at < $6)
ORDER BY id DESC
LIMIT $7
