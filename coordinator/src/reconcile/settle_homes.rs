//! Agents get the subnets they live in.

use std::time::Duration;

use delegation::Reason;
use hierarchy::Range;
use protocol::AgentId;
use store::{agents, delegations};
use tokio::sync::Notify;

use super::{Outcome, Reconciler};
use crate::atlas::Atlas;
use crate::counted::counted;
use crate::events::Change;
use crate::pokes::Pokes;
use crate::standing::{home_of, redraw};
use crate::state::Coordinator;
use crate::steer::{may_settle, steering};

/// Approval delegates an agent's home subnet to it. Where that could not be (no hierarchy was
/// loaded) or is not so any more (a new generation cuts the addresses differently), this does it.
pub struct SettleHomes;

impl Reconciler for SettleHomes {
    const NAME: &'static str = "settle_homes";
    const PERIOD: Duration = Duration::from_secs(30);

    fn bell(pokes: &Pokes) -> &Notify {
        &pokes.settle_homes
    }

    async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
        let Some(atlas) = coordinator.atlas() else { return Ok(Outcome::Idle) };
        let steering = steering(coordinator).await?;
        let workers = agents::workers(&coordinator.store).await?;
        let unsettled: Vec<(AgentId, Range)> = workers
            .iter()
            .filter_map(|worker| Some((worker.agent, home_of(&atlas, worker.agent, worker.home)?)))
            .filter(|(agent, home)| !lives_there(&atlas, *agent, home))
            .filter(|(agent, home)| may_settle(&atlas, &steering, *agent, home))
            .collect();
        if unsettled.is_empty() {
            return Ok(Outcome::Idle);
        }
        let writing = coordinator.atlases.writing().await;
        let mut settled = 0;
        for (agent, home) in &unsettled {
            let now = coordinator.now();
            settled +=
                u32::from(delegations::settle_home(&coordinator.store, *agent, home, now).await?);
        }
        redraw(coordinator, &writing).await?;
        coordinator.pokes.drive_searches.notify_one();
        coordinator.pokes.route_urls.notify_one();
        coordinator.events.tell(Change::Delegations);
        Ok(Outcome::Done(format!("settled {} at home", counted(settled, "agent"))))
    }
}

fn lives_there(atlas: &Atlas, agent: AgentId, home: &Range) -> bool {
    let holding = atlas.hierarchy().find(home).and_then(|subnet| atlas.book().holding(subnet));
    holding.is_some_and(|holding| holding.agent == agent && holding.reason == Reason::Home)
}
