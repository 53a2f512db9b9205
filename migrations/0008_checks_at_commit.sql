-- The foreign keys of rows that are written by the thousand are checked when their transaction ends: by then it can ask for
-- plans that are kept, where otherwise a plan would be made for each row.

ALTER TABLE probes
    ALTER CONSTRAINT probes_search_fkey DEFERRABLE INITIALLY DEFERRED,
    ALTER CONSTRAINT probes_agent_fkey DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE delegations
    ALTER CONSTRAINT delegations_search_fkey DEFERRABLE INITIALLY DEFERRED,
    ALTER CONSTRAINT delegations_agent_fkey DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE hosts
    ALTER CONSTRAINT hosts_agent_fkey DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE pending_urls
    ALTER CONSTRAINT pending_urls_host_fkey DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE routes
    ALTER CONSTRAINT routes_agent_fkey DEFERRABLE INITIALLY DEFERRED;
