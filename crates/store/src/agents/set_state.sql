-- Changes the state of an agent; the first approval is dated.
UPDATE agents SET state = $2,
   approved_at = CASE WHEN state = 'pending' AND $2 = 'approved' THEN $3 ELSE approved_at END
WHERE id = $1
