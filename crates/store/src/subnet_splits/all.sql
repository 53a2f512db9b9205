-- All of them.
SELECT whole_first, whole_last, first, last FROM subnet_splits ORDER BY whole_first, whole_last,
    first
