-- Makes orders for searches.
INSERT INTO probes (search, step, agent, phase, level_first, level_last, expected_us,
    deviation_us, chance,
                    asked_at)
SELECT search, step, agent, phase, first, last, expected_us, deviation_us, chance, $10
FROM unnest($1::bigint[], $2::int[], $3::bigint[], $4::text[], $5::inet[], $6::inet[], $7::int[],
    $8::int[],
            $9::real[])
     AS p (search, step, agent, phase, first, last, expected_us, deviation_us, chance)
ON CONFLICT DO NOTHING
