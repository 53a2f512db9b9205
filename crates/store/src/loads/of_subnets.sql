-- The days of the subnets $3 to $4; by_subnet.sql goes on.
WITH days AS (
    SELECT d.* FROM unnest($3::inet[], $4::inet[]) AS w (first, last)
    JOIN subnet_days d ON d.first = w.first AND d.last = w.last
)
