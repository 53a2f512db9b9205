-- Makes this the fact under this name.
INSERT INTO settings (name, value) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value
