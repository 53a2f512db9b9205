//! Background task: detects subnets with slower paths or pages and advances their incidents.

use delegation::calibration::{NewTimes, PathTimes, SubnetSlowdown, SubnetTimes, TimingReports};
use serde::Deserialize as _;
use store::incidents::{Incident, IncidentCause};
use store::timing_reports::{self, PendingReports, Summary};
use store::{agents, incidents};

use crate::placement::Placement;
use crate::placement::incident_round::IncidentRound;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Subnets whose reports are evaluated in one run.
const BATCH: u32 = 1_000;

/// Evaluates what the agents report of paths and pages, subnet by subnet, and takes the next step
/// of each incident (IPMicra III.F).
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let pending = timing_reports::pending(&placement.store, BATCH).await?;
    let has_more = pending.len() == BATCH as usize;
    let mut opened = 0;
    for reports in &pending {
        opened += u32::from(evaluate(placement, reports).await?);
    }
    let incidents = incidents::list_open(&placement.store).await?;
    let steps = advance(placement, &incidents).await?;
    let is_changed = opened + steps > 0;
    if is_changed {
        placement.events.emit(Event::CalibrationAdvanced);
    }
    Ok(if has_more {
        Outcome::More(format!("evaluated the reports of {BATCH} subnets"))
    } else if is_changed {
        Outcome::Done(format!(
            "found {} that became slower, took {} in {}",
            quantity(opened, "subnet"),
            quantity(steps, "step"),
            quantity(incidents.len(), "incident"),
        ))
    } else {
        Outcome::Idle
    })
}

/// Takes the next step of each incident. Returns the number of steps taken.
async fn advance(placement: &Placement, incidents: &[Incident]) -> Result<u32, anyhow::Error> {
    if incidents.is_empty() {
        return Ok(0);
    }
    let workers = agents::workers(&placement.store).await?;
    let mut round = IncidentRound::begin(placement, &workers).await?;
    for incident in incidents {
        round.advance(incident).await?;
    }
    Ok(round.finish())
}

/// Adds new reports to what is known of a subnet. Returns whether that opened an incident.
async fn evaluate(placement: &Placement, new: &PendingReports) -> Result<bool, anyhow::Error> {
    let now = placement.clock.now();
    let policy = placement.policy.load();
    let mut times = known_times(new)?;
    let verdict = times.observe(
        &policy.calibration,
        &NewTimes {
            usual: new.usual,
            slower: new.slower,
            page_ratio: new.ratio,
            round_trip: new.round_trip,
        },
        now,
    );
    let summary = Summary {
        reports: serde_json::to_value(times.pages)?,
        path: serde_json::to_value(times.path)?,
        check_at: verdict.check_at,
    };
    let store = &placement.store;
    if let Some(slowdown) = verdict.slowdown.filter(|_| new.delegated_at.is_some()) {
        return Ok(incidents::open(store, new, &summary, &opening(new, slowdown), now).await?);
    }
    timing_reports::store_summary(store, new, &summary).await?;
    Ok(false)
}

fn known_times(new: &PendingReports) -> Result<SubnetTimes, serde_json::Error> {
    let mut times = new.delegated_at.map(SubnetTimes::delegated).unwrap_or_default();
    if let Some(summary) = &new.summary {
        times.pages = TimingReports::deserialize(summary)?;
    }
    if let Some(path) = &new.path {
        times.path = PathTimes::deserialize(path)?;
    }
    Ok(times)
}

/// What is written down with an incident.
fn opening(new: &PendingReports, slowdown: SubnetSlowdown) -> IncidentCause<'_> {
    match slowdown {
        SubnetSlowdown::Path { ratio } => {
            IncidentCause { ratio, url: None, path_ratio: Some(ratio) }
        }
        SubnetSlowdown::Pages { ratio, path_ratio } => {
            IncidentCause { ratio, url: new.url.as_deref(), path_ratio }
        }
    }
}
