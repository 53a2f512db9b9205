-- Probes of incidents and of homes belong to no search, with which they would be deleted; these are
-- the rows to delete.
CREATE INDEX probes_check_ended ON probes (asked_at)
    WHERE purpose IN ('check', 'home') AND state <> 'asked';
