//! URLs go to the agents of their hosts.

use std::collections::HashSet;
use std::time::Duration;

use store::routes;
use tokio::sync::Notify;

use super::{Outcome, Reconciler};
use crate::counted::counted;
use crate::events::Change;
use crate::pokes::Pokes;
use crate::recent::fingerprint;
use crate::state::Coordinator;

/// Moves URLs whose host has an agent from the queue to that agent's list, and wakes the agent.
pub struct RouteUrls;

/// URLs in one batch.
const BATCH: u32 = 5_000;

impl Reconciler for RouteUrls {
    const NAME: &'static str = "route_urls";
    const PERIOD: Duration = Duration::from_secs(3);

    fn bell(pokes: &Pokes) -> &Notify {
        &pokes.route_urls
    }

    async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
        let ahead = coordinator.config.limits.routes_ahead;
        let routed = routes::route(&coordinator.store, BATCH, ahead).await?;
        if routed.is_empty() {
            return Ok(Outcome::Idle);
        }
        coordinator.recent.remember(routed.iter().map(|route| fingerprint(&route.url)));
        let agents: HashSet<_> = routed.iter().map(|route| route.agent).collect();
        let deed = format!(
            "routed {} to {}",
            counted(routed.len(), "URL"),
            counted(agents.len(), "agent")
        );
        coordinator.wakes.ring(agents);
        coordinator.events.tell(Change::Crawl);
        Ok(if routed.len() == BATCH as usize { Outcome::More(deed) } else { Outcome::Done(deed) })
    }
}
