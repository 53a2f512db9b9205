-- A database as large as asked for. Words in braces are numbers; statements end with an empty line.

-- The hosts, in turn in the subnets; the agents have the subnets in turn.
INSERT INTO hosts (scheme, authority, state, address, first, last, agent, pages, fetches)
SELECT 'https', 'h' || n || '.example', 'delegated', s.first + 1 + n / {subnets}, s.first, s.last,
       1 + s.place % {agents}, 10, 12
FROM generate_series({from}, {to}) AS n JOIN place s ON s.place = n % {subnets};

-- The searches that found the agents of one subnet in ten, with three probes each.
INSERT INTO searches (first, last, target, target_host, target_port, strategy, threshold_us, state,
    opened_at, decided_at)
SELECT first, last, first + 1, 'h' || place || '.example', 443, 'threshold', 50000, 'decided',
       now() - interval '30 days', now() - interval '30 days'
FROM place WHERE place % 10 = 0;

INSERT INTO probes (search, step, agent, phase, level_first, level_last, state, asked_at,
    answered_at, method, rtt_us, samples)
SELECT s.id, n, 1 + (s.id + n) % {agents}, 'sibling', s.first, s.last, 'measured',
       now() - interval '30 days', now() - interval '30 days', 'tcp', 20000 + n, 3
FROM searches s CROSS JOIN generate_series(1, 3) AS n;

INSERT INTO delegations (first, last, agent, fencing_number, reason, rtt_us, decided_at)
SELECT first, last, 1 + place % {agents}, 1, 'threshold', 20000, now() - interval '30 days'
FROM place;

-- The path of each subnet was measured today and is not due.
INSERT INTO timing_reports (first, last, agent, connect_at, path, check_at, reported_at)
SELECT first, last, agent, now(), NULL, now() + interval '2 days', now() FROM delegations;

-- The load: two days of each host, and the sums of them.
INSERT INTO host_days (host, day, fetches)
SELECT h.id, current_date - (h.id % 3)::int - 2 * d, 6
FROM hosts h CROSS JOIN generate_series(0, {days} - 1) AS d;

INSERT INTO subnet_days (first, last, day, fetches)
SELECT h.first, h.last, d.day, sum(d.fetches)
FROM host_days d JOIN hosts h ON h.id = d.host GROUP BY h.first, h.last, d.day;

INSERT INTO agent_days (agent, day, fetches)
SELECT g.agent, s.day, sum(s.fetches)
FROM subnet_days s JOIN delegations g ON g.first = s.first AND g.last = s.last
GROUP BY g.agent, s.day;

-- The ledger.
INSERT INTO packages (agent, epoch, seq, sha256, object, bytes, plain_bytes, entries, received_at,
    ingested_at, ingestions, pages, fetches, wire_bytes, position)
SELECT 1 + n % {agents}, 1, n / {agents} + 1, sha256(int8send(n)), 'object ' || n, 50000, 250000,
       40, at.at, at.at, 1, 35, 40, 900000, n + 1
FROM generate_series(0, {packages} - 1) AS n
CROSS JOIN LATERAL (SELECT now() - n * interval '90 days' / {packages} AS at) AS at;

INSERT INTO agent_hours (agent, hour, fetches)
SELECT id, date_trunc('hour', now() - h * interval '1 hour'), 500
FROM agents CROSS JOIN generate_series(1, 40) AS h;

UPDATE package_ledger SET last = {packages};

-- The hourly pass of balance, which considers every subnet, is not due.
INSERT INTO settings (name, value)
VALUES ('balance_pass_ms', to_jsonb((extract(epoch FROM now()) * 1000)::bigint));

-- What became of the fetches of each host: one in ten has errors, one in a hundred is forbidden.
INSERT INTO host_fetches (host, agent, fetched_at, errors, disallowed, wire_bytes, mean_ms, recent)
SELECT id, agent, now(), CASE WHEN id % 10 = 0 THEN 1 + id % 7 ELSE 0 END,
       CASE WHEN id % 100 = 0 THEN 1 + id % 30 ELSE 0 END, 100000 + id % 90000,
       20 + id * 7919 % 3000,
       jsonb_build_array(jsonb_build_object('url', 'https://' || authority || '/',
           'at', (extract(epoch FROM now()) * 1000)::bigint, 'outcome', 'page', 'detail', '',
           'ms', 120, 'bytes', 9000))
FROM hosts WHERE id BETWEEN 1 + {from} AND 1 + {to};

-- The errors of three days: of one host in a hundred on each.
INSERT INTO error_days (host, day, kind, agent, errors, url, detail, at)
SELECT h.id, current_date - d, CASE h.id % 3 WHEN 0 THEN 'dns' WHEN 1 THEN 'timeout'
       ELSE 'client_error' END, h.agent, 1 + h.id % 50, 'https://' || h.authority || '/', 'failed',
       now() - d * interval '1 day'
FROM hosts h CROSS JOIN generate_series(0, 2) AS d WHERE h.id % 100 = d;

INSERT INTO agent_error_days (agent, day, kind, errors)
SELECT agent, day, kind, sum(errors) FROM error_days GROUP BY agent, day, kind;

-- Activity: the minutes of three hours, the hours of eight days and the days of three months, of
-- each agent and of all (0).
INSERT INTO activity (step, day, start, agent, pages, fetches, errors, fetched_bytes,
    shipped_bytes, timed_fetches, round_trip_us, probes, searches, queued)
SELECT s.step, (t.start AT TIME ZONE 'UTC')::date, t.start, a.agent, 10, 12, 1, 300000, 40000, 12,
       240000, 3, 1, 5000
FROM (VALUES ('minute', 180), ('hour', 192), ('day', 91)) AS s (step, buckets)
CROSS JOIN LATERAL (
    SELECT date_trunc(s.step, now(), 'UTC') - b * ('1 ' || s.step)::interval AS start
    FROM generate_series(1, s.buckets) AS b) AS t
CROSS JOIN generate_series(0, {agents}) AS a (agent);

-- From which countries each agent fetched.
INSERT INTO agent_countries (agent, country, hosts, fetches, timed_fetches, round_trip_us)
SELECT a.agent, c.country, 100, 1000, 1000, 20000000
FROM generate_series(1, {agents}) AS a (agent)
CROSS JOIN unnest(ARRAY['CY', 'GR', 'DE', 'US', 'JP', 'BR', 'ZA', 'AU']) AS c (country);

-- What admins did in years, and what they decided beforehand.
INSERT INTO audit (at, actor, action, subject, detail)
SELECT now() - n * interval '1 minute', 'admin ' || n % 5,
       CASE n % 3 WHEN 0 THEN 'seeds.add' WHEN 1 THEN 'pin.create' ELSE 'agent.approve' END,
       'agt_' || 1 + n % {agents}, '{}'
FROM generate_series(1, 1000000) AS n;

INSERT INTO constraints (kind, scope, first, last, agent, reason, created_by)
SELECT 'pin', 'range', first, last, 1 + place % {agents}, 'a partner asked for it', 'admin'
FROM place WHERE place % 20000 = 0;

-- What balance moved, and slower paths that were checked.
INSERT INTO moves (first, last, from_agent, to_agent, delegation, rule, pages_a_day,
    cost_before_ms, cost_after_ms)
SELECT first, last, 1 + agent % {agents}, agent, id, 'cheapest', 100, 300, 200
FROM delegations WHERE id % 20 = 0;

INSERT INTO incidents (first, last, agent, delegation, ratio, url, state, opened_at, changed_at,
    ended_at)
SELECT first, last, agent, id, 3, 'https://h.example/', 'server', now() - interval '9 days',
       now() - interval '8 days', now() - interval '8 days'
FROM delegations WHERE id % 100 = 0;
