-- Hosts that answer nobody rest for hours before the next search. What is due is counted without
-- them.
CREATE INDEX hosts_waiting_due ON hosts (retry_at) WHERE state = 'resolved';
