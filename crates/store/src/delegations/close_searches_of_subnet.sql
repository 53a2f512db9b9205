-- Close the search for a subnet.
UPDATE searches SET state = 'decided', decided_at = $3 WHERE first = $1 AND last = $2
    AND state = 'open'
