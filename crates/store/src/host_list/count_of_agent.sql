-- How many hosts an agent ($1) has, and how many of them are moving; at most $2 are counted. The
-- first comes from the index of agents alone: the rows of its hosts are anywhere on the disk.
SELECT (SELECT count(*) FROM (SELECT FROM hosts WHERE agent = $1 LIMIT $2) AS h),
       (SELECT count(*) FROM (
           SELECT FROM hosts WHERE agent = $1 AND state = 'moving' LIMIT $2) AS h)
