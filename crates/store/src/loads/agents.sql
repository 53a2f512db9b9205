-- All agents that were not revoked.
SELECT a.id, a.name, a.state = 'approved', a.capacity_pages_per_day,
       coalesce((SELECT sum(p.fetches) FROM packages p
                 WHERE p.agent = a.id AND p.ingested_at > $1), 0)::bigint,
       (SELECT min(p.ingested_at) FROM packages p WHERE p.agent = a.id
           AND p.ingested_at IS NOT NULL),
       coalesce((a.status ->> 'queued')::bigint, 0)
FROM agents a WHERE a.state <> 'revoked' ORDER BY a.id
