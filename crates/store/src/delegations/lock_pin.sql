-- Whether the pin still counts; it is locked, so that it is not removed meanwhile.
SELECT id FROM constraints
WHERE id = $1 AND kind = 'pin' AND ended_at IS NULL AND (expires_at IS NULL OR expires_at > $2)
    FOR SHARE
