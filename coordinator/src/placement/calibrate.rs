//! Slow pages are noticed, and something is done about them.

use delegation::calibration::TimingReports;
use store::timing_reports::{self, Unheard};
use store::{agents, incidents};

use crate::placement::Placement;
use crate::placement::calibration::{Walk, rest};
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Subnets weighed in one run.
const BATCH: u32 = 1_000;

/// Weighs what agents tell of slow pages together, subnet by subnet, and goes on with the cases
/// that come of it (IPMicra III.F).
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let unheard = timing_reports::unheard(&placement.store, BATCH).await?;
    let more = unheard.len() == BATCH as usize;
    let mut suspicions = 0;
    for told in &unheard {
        suspicions += u32::from(weigh(placement, told).await?);
    }
    let cases = incidents::going_on(&placement.store).await?;
    let workers = agents::workers(&placement.store).await?;
    let mut walk = Walk::begin(placement, &workers);
    for case in &cases {
        walk.step(case).await?;
    }
    let steps = walk.finish();
    if suspicions + steps > 0 {
        placement.events.emit(Event::CalibrationAdvanced);
    }
    Ok(match (suspicions + steps > 0, more) {
        (false, false) => Outcome::Idle,
        (_, true) => Outcome::More(format!("weighed what was told of {BATCH} subnets")),
        (true, false) => Outcome::Done(format!(
            "found {} with slower pages, made {} in {}",
            quantity(suspicions, "subnet"),
            quantity(steps, "step"),
            quantity(cases.len(), "case"),
        )),
    })
}

/// Hears what was told of a subnet; whether that opened a case.
async fn weigh(placement: &Placement, told: &Unheard) -> Result<bool, anyhow::Error> {
    let (now, rest) = (placement.clock.now(), rest(&placement.policy.load()));
    let mut timing_reports = match (&told.summary, told.delegated_at) {
        (Some(timing_reports), _) => serde_json::from_value(timing_reports.clone())?,
        (None, Some(decided)) => {
            let mut timing_reports = TimingReports::default();
            timing_reports.delegated(decided);
            timing_reports
        }
        (None, None) => TimingReports::default(),
    };
    let mut suspicion = false;
    (0..told.usual).for_each(|_| timing_reports.usual(&rest, now));
    (0..told.slower).for_each(|_| suspicion = timing_reports.slower(&rest, now));
    let weighed = serde_json::to_value(timing_reports)?;
    if suspicion && told.delegated_at.is_some() {
        return Ok(incidents::open(&placement.store, told, &weighed, now).await?);
    }
    timing_reports::heard(&placement.store, told, &weighed).await?;
    Ok(false)
}
