-- The newest entries that fit the filters, at most $6, counted by action.
SELECT action, count(*) FROM (
   SELECT action FROM audit
   -- A person alone means also what was done with the person's tokens.
   WHERE ($1::text IS NULL OR actor = $1 OR starts_with(actor, $1 || ' (token '))
     -- A noun alone means all of its verbs: agent fits agent.approve.
     AND ($2::text IS NULL OR action = $2 OR starts_with(action, $2 || '.'))
     AND ($3::text IS NULL OR subject = $3)
     AND ($4::timestamptz IS NULL OR at >= $4)
     AND ($5::timestamptz IS NULL OR at < $5)
   ORDER BY id DESC LIMIT $6) AS newest
GROUP BY action ORDER BY count(*) DESC, action
