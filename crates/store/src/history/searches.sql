-- Deletes those of the searches $1, with their probes, that no delegation or incident refers to.
WITH unused AS (
    SELECT s.id FROM searches s
    WHERE s.id = ANY($1) AND s.state <> 'open'
      AND NOT EXISTS (SELECT FROM delegations d WHERE d.search = s.id)
      AND NOT EXISTS (SELECT FROM incidents i WHERE i.search = s.id)
), probes_gone AS (
    DELETE FROM probes p USING unused u WHERE p.search = u.id
)
DELETE FROM searches s USING unused u WHERE s.id = u.id
