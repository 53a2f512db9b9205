-- Enters new hosts, and gives those that were given up long enough ago another chance. Seeds ($4 is
-- 0) do not wait where the DNS was the reason, which the missing address tells, nor longer than the
-- first pause where no agent got an answer: a person may know that the host works again.
INSERT INTO hosts (scheme, authority, retry_at, found_at, found_by)
SELECT scheme, authority, $3, $3, $4 FROM unnest($1::text[], $2::text[]) AS n (scheme, authority)
ON CONFLICT (scheme, authority) DO UPDATE
   SET state = 'unresolved', attempts = 0, reason = NULL, address = NULL, first = NULL, last = NULL,
       retry_at = $3, found_by = $4
   WHERE hosts.state = 'failed'
     AND (hosts.retry_at <= $3 OR $4 = 0 AND (hosts.address IS NULL OR hosts.silences > 1))
