//! Background task: routes URLs to the agents of their hosts.

use std::collections::HashSet;

use model::url::fingerprint;
use store::routes;

use crate::intake::Intake;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// URLs in one batch.
const BATCH: u32 = 5_000;

/// Moves URLs whose host has an agent from the queue to the routes of that agent, and notifies it.
pub async fn run(intake: &Intake) -> Result<Outcome, anyhow::Error> {
    let routed = routes::route(&intake.store, BATCH, intake.limits.routes_ahead).await?;
    if routed.is_empty() {
        return Ok(Outcome::Idle);
    }
    // Only after the commit: a URL that was remembered but not routed would be lost.
    intake.recent_urls.remember(routed.iter().map(|route| fingerprint(&route.url)));
    let agents: HashSet<_> = routed.iter().map(|route| route.agent).collect();
    let done =
        format!("routed {} to {}", quantity(routed.len(), "URL"), quantity(agents.len(), "agent"));
    intake.agent_wakeups.wake(agents);
    intake.events.emit(Event::UrlsRouted);
    Ok(if routed.len() == BATCH as usize { Outcome::More(done) } else { Outcome::Done(done) })
}
