//! Background task: detects subnets with slower pages and advances their incidents.

use delegation::calibration::TimingReports;
use store::timing_reports::{self, PendingReports};
use store::{agents, incidents};

use crate::placement::Placement;
use crate::placement::incident_round::{IncidentRound, reopen_limits, reports_since};
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Subnets whose reports are evaluated in one run.
const BATCH: u32 = 1_000;

/// Evaluates the agents' reports of slow pages, subnet by subnet, and takes the next step of each
/// incident (IPMicra III.F).
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let pending = timing_reports::pending(&placement.store, BATCH).await?;
    let has_more = pending.len() == BATCH as usize;
    let mut opened = 0;
    for reports in &pending {
        opened += u32::from(evaluate(placement, reports).await?);
    }
    let incidents = incidents::list_open(&placement.store).await?;
    let workers = agents::workers(&placement.store).await?;
    let mut round = IncidentRound::begin(placement, &workers);
    for incident in &incidents {
        round.advance(incident).await?;
    }
    let steps = round.finish();
    let is_changed = opened + steps > 0;
    if is_changed {
        placement.events.emit(Event::CalibrationAdvanced);
    }
    Ok(if has_more {
        Outcome::More(format!("evaluated the reports of {BATCH} subnets"))
    } else if is_changed {
        Outcome::Done(format!(
            "found {} with slower pages, took {} in {}",
            quantity(opened, "subnet"),
            quantity(steps, "step"),
            quantity(incidents.len(), "incident"),
        ))
    } else {
        Outcome::Idle
    })
}

/// Adds new reports to the summary of a subnet. Returns whether that opened an incident.
async fn evaluate(placement: &Placement, new: &PendingReports) -> Result<bool, anyhow::Error> {
    let now = placement.clock.now();
    let limits = reopen_limits(&placement.policy.load());
    let mut reports = match (&new.summary, new.delegated_at) {
        (Some(summary), _) => serde_json::from_value(summary.clone())?,
        (None, Some(decided)) => reports_since(decided),
        (None, None) => TimingReports::default(),
    };
    // The store has counts without their order. Usual times come first, so that the last slow page
    // is compared with all of them.
    for _ in 0..new.usual {
        reports.usual(&limits, now);
    }
    let mut is_slow = false;
    for _ in 0..new.slower {
        is_slow = reports.slower(&limits, now);
    }
    let summary = serde_json::to_value(reports)?;
    if is_slow && new.delegated_at.is_some() {
        return Ok(incidents::open(&placement.store, new, &summary, now).await?);
    }
    timing_reports::store_summary(&placement.store, new, &summary).await?;
    Ok(false)
}
