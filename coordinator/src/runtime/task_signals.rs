//! "There is something to do": agent_wakeups background tasks before their period is over.
//!
//! A wake-up carries nothing. It may come too often or for nothing; a background task looks at the state
//! and does what is left to do. A wake-up while the background task runs makes it run once more, so that
//! none is lost.

use tokio::sync::Notify;

/// One bell per background task.
#[derive(Debug, Default)]
pub struct TaskSignals {
    /// New hosts want an address.
    pub resolve_hosts: Notify,
    /// Hosts have an address and no subnet, or a subnet got an agent.
    pub place_hosts: Notify,
    /// Subnets may need a search.
    pub open_searches: Notify,
    /// A search may take its next step.
    pub drive_searches: Notify,
    /// A search whose subnet is delegated for the time being may take its next step.
    pub improve_delegations: Notify,
    /// Landmarks may be chosen, or have died.
    pub choose_landmarks: Notify,
    /// Agents may have room for measuring landmarks.
    pub measure_landmarks: Notify,
    /// Landmarks were measured.
    pub survey_landmarks: Notify,
    /// Orders may have become pointless.
    pub expire_probes: Notify,
    /// Something was told of slow pages, or measured because of them.
    pub calibrate: Notify,
    /// Agents may have lost their leases.
    pub end_leases: Notify,
    /// URLs may be routed to agents.
    pub route_urls: Notify,
    /// Packages wait to be integrated.
    pub integrate_packages: Notify,
    /// A new generation of the hierarchy may have been loaded.
    pub reload_hierarchy: Notify,
    /// Subnets may have been found that are not in one place.
    pub cut_subnets: Notify,
    /// Somebody wants the registries' data anew.
    pub refresh_registries: Notify,
    /// Agents may live where nothing is theirs.
    pub settle_homes: Notify,
    /// Delegations may not be as admins want them.
    pub steer: Notify,
    /// Agents may have more to do than they can.
    pub balance: Notify,
    /// The delegation table of delegations was changed by a plan.
    pub audit_book: Notify,
}

impl TaskSignals {
    /// Rings every bell: after a start, after Postgres came back, after a change that touches
    /// everything.
    pub fn all(&self) {
        let bells = [
            &self.resolve_hosts,
            &self.place_hosts,
            &self.open_searches,
            &self.drive_searches,
            &self.improve_delegations,
            &self.choose_landmarks,
            &self.measure_landmarks,
            &self.survey_landmarks,
            &self.expire_probes,
            &self.calibrate,
            &self.end_leases,
            &self.route_urls,
            &self.integrate_packages,
            &self.reload_hierarchy,
            &self.cut_subnets,
            &self.refresh_registries,
            &self.settle_homes,
            &self.steer,
            &self.balance,
            &self.audit_book,
        ];
        for bell in bells {
            bell.notify_one();
        }
    }
}
