//! "There is something to do": wakes reconcilers before their period is over.
//!
//! A poke carries nothing. It may come too often or for nothing; a reconciler looks at the state and does what is left
//! to do. A poke while the reconciler runs makes it run once more, so that none is lost.

use tokio::sync::Notify;

/// One bell per reconciler.
#[derive(Debug, Default)]
pub struct Pokes {
    /// New hosts want an address.
    pub resolve_hosts: Notify,
    /// Hosts with an address may need a search.
    pub open_searches: Notify,
    /// A search may take its next step.
    pub drive_searches: Notify,
    /// URLs may be routed to agents.
    pub route_urls: Notify,
    /// Packages wait to be integrated.
    pub integrate_packages: Notify,
    /// A new generation of the hierarchy may have been loaded.
    pub reload_hierarchy: Notify,
}

impl Pokes {
    /// Rings every bell: after a start, after Postgres came back, after a change that touches everything.
    pub fn all(&self) {
        self.resolve_hosts.notify_one();
        self.open_searches.notify_one();
        self.drive_searches.notify_one();
        self.route_urls.notify_one();
        self.integrate_packages.notify_one();
        self.reload_hierarchy.notify_one();
    }
}
