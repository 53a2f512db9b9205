//! URLs go to the agents of their hosts.

use std::collections::HashSet;
use std::time::Duration;

use store::routes;
use tokio::sync::Notify;

use crate::intake::recent_urls::fingerprint;
use crate::runtime::counted::counted;
use crate::runtime::events::Change;
use crate::runtime::state::Coordinator;
use crate::runtime::task_signals::TaskSignals;
use crate::tasks::{BackgroundTask, Outcome};

/// Moves URLs whose host has an agent from the queue to that agent's list, and agent_wakeups the agent.
pub struct RouteUrls;

/// URLs in one batch.
const BATCH: u32 = 5_000;

impl BackgroundTask for RouteUrls {
    const NAME: &'static str = "route_urls";
    const PERIOD: Duration = Duration::from_secs(3);

    fn bell(task_signals: &TaskSignals) -> &Notify {
        &task_signals.route_urls
    }

    async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
        let ahead = coordinator.config.limits.routes_ahead;
        let routed = routes::route(&coordinator.store, BATCH, ahead).await?;
        if routed.is_empty() {
            return Ok(Outcome::Idle);
        }
        coordinator.recent.remember(routed.iter().map(|route| fingerprint(&route.url)));
        let agents: HashSet<_> = routed.iter().map(|route| route.agent).collect();
        let outcome = format!(
            "routed {} to {}",
            counted(routed.len(), "URL"),
            counted(agents.len(), "agent")
        );
        coordinator.agent_wakeups.wake(agents);
        coordinator.events.tell(Change::Crawl);
        Ok(if routed.len() == BATCH as usize {
            Outcome::More(outcome)
        } else {
            Outcome::Done(outcome)
        })
    }
}
