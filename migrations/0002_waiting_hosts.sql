-- Hosts that wait for an agent are looked for every few seconds; most hosts do not wait.

CREATE INDEX hosts_waiting ON hosts (id) WHERE state = 'resolved';
