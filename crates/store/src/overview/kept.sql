-- The counts, with the changes that are not added yet. Sums of what agents report may be too large.
SELECT name, least(sum(value), 9223372036854775807)::bigint
FROM (SELECT name, value FROM counts UNION ALL SELECT name, change FROM count_changes) AS c
GROUP BY name
