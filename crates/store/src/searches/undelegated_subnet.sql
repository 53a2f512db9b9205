-- The subnet of a search ($1), if no agent has it.
SELECT s.first, s.last FROM searches s
WHERE s.id = $1 AND NOT EXISTS (
   SELECT FROM delegations d WHERE d.first = s.first AND d.last = s.last AND d.ended_at IS NULL
)
