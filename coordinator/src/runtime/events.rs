//! Events: what changed. They wake background tasks and refresh open dashboards.
//!
//! An event carries no data. Its receivers read the state from the database, so events may be
//! repeated, and events of the same kind may be merged. The table of background tasks
//! (`tasks::table`) lists which event notifies which task.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::{Notify, broadcast};

/// A kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// More may have changed than any other event says: after an election, or after the connection
    /// that carries notifications was interrupted.
    AnythingChanged,

    /// The loader committed a new generation of the hierarchy.
    GenerationLoaded,
    /// A hierarchy was put in use in this process.
    HierarchyLoaded,
    /// An admin asked for new registry data.
    RegistryRefreshRequested,
    /// Measurements showed that a subnet is in several places.
    SplitProposed,

    /// An admin or an API client added seeds.
    SeedsAdded,
    /// Hosts have an address now.
    HostsResolved,
    /// Hosts have a subnet now.
    HostsPlaced,
    /// Hosts have an agent now.
    HostsAssigned,
    /// Agents released hosts, or lost them because their leases ended.
    HostsReleased,
    /// URLs were routed to agents.
    UrlsRouted,
    /// An agent confirmed routes, so that it may be given more.
    RoutesConfirmed,

    /// A new agent enrolled.
    AgentEnrolled,
    /// An agent woke, fell asleep, or came back.
    AgentAvailabilityChanged,
    /// An admin approved, paused, resumed or revoked an agent.
    AgentAdministered,

    /// A search may take its next step: it was opened or has a new target.
    SearchReady,
    /// An agent answered a probe of a search.
    SearchProbeAnswered,
    /// Probes were withdrawn, or were not answered in time.
    ProbesExpired,
    /// Searches asked agents, or decided.
    SearchesAdvanced,
    /// Searches ended, with or without a delegation.
    SearchesEnded,

    /// An agent measured the home address of another.
    HomeMeasured,
    /// The map of agents changed, and with it the model of the predictor.
    AgentsMapped,

    /// Subnets were delegated, or moved, outside of a search.
    DelegationsChanged,
    /// Another coordinator's delegations were entered in the delegation table.
    DelegationsSynchronized,
    /// Delegations ended without another agent.
    SubnetsReleased,
    /// Agents got their home subnets.
    HomesDelegated,
    /// An admin made or removed a pin or an exclusion, or one expired.
    ConstraintsChanged,
    /// A search met a subnet whose pin was not applied yet.
    PinNotApplied,
    /// The reports of an agent turned out to be forged.
    ForgeryFound,
    /// An agent answered a control probe.
    ControlProbeAnswered,
    /// Incidents of slow pages were opened or took a step.
    CalibrationAdvanced,

    /// An agent delivered a package.
    PackageReceived,
    /// An admin had the pages of an agent removed from the search.
    PagesRemoved,
    /// Packages were indexed and their links queued.
    PackageIngested,

    /// The policy changed.
    PolicyChanged,
    /// The part of the policy about balance changed.
    BalancePolicyChanged,
}

/// Distributes events within this process.
#[derive(Debug)]
pub struct Events {
    tasks: RwLock<Vec<(Vec<Event>, Arc<Notify>)>>,
    dashboards: broadcast::Sender<Event>,
}

impl Default for Events {
    fn default() -> Self {
        Self { tasks: RwLock::default(), dashboards: broadcast::Sender::new(256) }
    }
}

impl Events {
    /// Notifies the tasks that subscribed to this event, and sends it to all receivers.
    pub fn emit(&self, event: Event) {
        for (events, wake) in self.tasks.read().unwrap_or_else(PoisonError::into_inner).iter() {
            if events.contains(&event) {
                // At most one permit is stored: several events during a run cause one more run.
                wake.notify_one();
            }
        }
        // Sending fails only when no dashboard is open.
        let _ = self.dashboards.send(event);
    }

    /// A signal that each of these events sets from now on.
    pub fn subscribe(&self, events: Vec<Event>) -> Arc<Notify> {
        let wake = Arc::new(Notify::new());
        let mut tasks = self.tasks.write().unwrap_or_else(PoisonError::into_inner);
        tasks.push((events, Arc::clone(&wake)));
        wake
    }

    /// Receives all events from now on. A slow receiver loses the oldest and gets an error that
    /// says so.
    pub fn receive(&self) -> broadcast::Receiver<Event> {
        self.dashboards.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn is_woken(wake: &Notify) -> bool {
        tokio::time::timeout(Duration::ZERO, wake.notified()).await.is_ok()
    }

    #[tokio::test]
    async fn events_are_merged_and_reach_only_subscribers() {
        let events = Events::default();
        let wake = events.subscribe(vec![Event::SeedsAdded, Event::HostsResolved]);
        events.emit(Event::UrlsRouted);
        assert!(!is_woken(&wake).await);
        events.emit(Event::SeedsAdded);
        events.emit(Event::HostsResolved);
        assert!(is_woken(&wake).await);
        assert!(!is_woken(&wake).await);
    }
}
