-- Entries with a number below `before`, the newest first.
SELECT id, at, actor, action, subject, detail FROM audit WHERE id < $1 ORDER BY id DESC LIMIT $2
