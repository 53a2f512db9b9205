-- Enrols an agent, or renews the profile of a known key; its home changes only while it is pending.
-- xmax is zero only for a new row.
INSERT INTO agents (public_key, name, contact, version, capacity_pages_per_day, zone, spans, home,
                    place, enrolled_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (public_key) DO UPDATE SET
   name = excluded.name, contact = excluded.contact, version = excluded.version,
   capacity_pages_per_day = excluded.capacity_pages_per_day, zone = excluded.zone,
   spans = excluded.spans, place = excluded.place,
   home = CASE agents.state WHEN 'pending' THEN excluded.home ELSE agents.home END
RETURNING id, state, xmax = 0
