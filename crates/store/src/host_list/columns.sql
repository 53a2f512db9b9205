-- Columns of hosts; the hosts and the joins follow.
SELECT h.id, h.scheme, h.authority, h.state, h.address, h.first, h.last, h.agent,
       a.name AS agent_name, h.reason, h.attempts, h.retry_at, h.found_at, h.found_by, h.pages,
       h.fetches, h.wire_bytes, f.errors, f.disallowed, f.mean_ms, f.recent,
       f.answered_at, f.unanswered_since, f.is_silent
FROM
