-- At most $2 ended probes of incidents and homes that were ordered before $1; what came of them is
-- stored with the incident and in home_times. One that an open incident has still to read stays.
DELETE FROM probes WHERE id IN (
   SELECT p.id FROM probes p
   WHERE p.purpose IN ('check', 'home') AND p.state <> 'asked' AND p.asked_at < $1
     AND NOT EXISTS (SELECT FROM incidents c WHERE c.probe = p.id AND c.ended_at IS NULL)
   ORDER BY p.asked_at LIMIT $2)
