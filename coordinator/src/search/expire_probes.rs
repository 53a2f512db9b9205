//! Background task: withdraws and expires probes that agents did not answer.

use model::UnixMillis;
use store::probes;

use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;
use crate::search::DelegationSearch;

/// Withdraws probes from agents that fell asleep, were paused or carry out none for now; a search
/// may ask these agents again later. Expires probes that were not answered in time, so that their
/// searches continue without the answers. None expires while agents may still be coming back to a
/// new leader: they could not report before.
pub async fn run(
    parts: &DelegationSearch,
    leader_since: Option<UnixMillis>,
) -> Result<Outcome, anyhow::Error> {
    let limits = &parts.limits;
    let now = parts.clock.now();
    let deadline_ms = 1_000 * i64::from(limits.probe_deadline_s);
    let withdrawn = probes::withdraw(&parts.store, now).await?;
    let is_settled = leader_since.is_some_and(|since| since.plus_ms(deadline_ms) <= now);
    let expired = if is_settled {
        let asked_before = now.plus_ms(-deadline_ms);
        probes::expire(&parts.store, asked_before, limits.heartbeat_cutoff(now), now).await?
    } else {
        0
    };
    parts.predictor.probe_metrics.ended(expired, withdrawn);
    if withdrawn + expired == 0 {
        return Ok(Outcome::Idle);
    }
    parts.events.emit(Event::ProbesExpired);
    Ok(Outcome::Done(format!("withdrew {}, expired {expired}", quantity(withdrawn, "probe"))))
}
