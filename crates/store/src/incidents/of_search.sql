-- The incident that opened a search; only the last search of each incident is known.
WHERE c.search = $1
