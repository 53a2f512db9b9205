-- Makes landmarks.
INSERT INTO landmarks (first, last, address, host, port, chosen_at)
SELECT first, last, address, host, port, $6
FROM unnest($1::inet[], $2::inet[], $3::inet[], $4::text[], $5::int[]) AS l (first, last,
    address, host, port)
ON CONFLICT (first, last) WHERE state = 'live' DO NOTHING
