-- One delegation, also one that ended.
WHERE d.id = $1
