-- Those of the hosts (scheme and authority) about which the agent has a say in a package received
-- at this time: hosts that are its, and hosts that were its when the package came.
SELECT h.scheme, h.authority FROM hosts h
JOIN unnest($2::text[], $3::text[]) AS n (scheme, authority)
  ON h.scheme = n.scheme AND h.authority = n.authority
WHERE h.agent = $1
   OR EXISTS (SELECT FROM handovers o WHERE o.host = h.id AND o.agent = $1 AND o.task = 'release'
                                         AND o.ended_at >= $4)
