-- Adds the changes of counts to the counts.
WITH taken AS (
    DELETE FROM count_changes RETURNING name, change
), added AS (
    INSERT INTO counts AS c (name, value)
    SELECT name, sum(change) FROM taken GROUP BY name ORDER BY name
    ON CONFLICT (name) DO UPDATE SET value = c.value + excluded.value
)
SELECT count(*) FROM taken
