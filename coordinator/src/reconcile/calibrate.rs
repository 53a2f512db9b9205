//! Slow pages are noticed, and something is done about them.

use std::time::Duration;

use delegation::calibration::Hearing;
use store::hearings::{self, Unheard};
use store::{agents, calibrations};
use tokio::sync::Notify;

use super::{Outcome, Reconciler};
use crate::calibration::{Walk, rest};
use crate::counted::counted;
use crate::events::Change;
use crate::pokes::Pokes;
use crate::state::Coordinator;

/// Weighs what agents tell of slow pages together, subnet by subnet, and goes on with the cases
/// that come of it (IPMicra III.F).
pub struct Calibrate;

/// Subnets weighed in one run.
const BATCH: u32 = 1_000;

impl Reconciler for Calibrate {
    const NAME: &'static str = "calibrate";
    const PERIOD: Duration = Duration::from_secs(2);

    fn bell(pokes: &Pokes) -> &Notify {
        &pokes.calibrate
    }

    async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
        let unheard = hearings::unheard(&coordinator.store, BATCH).await?;
        let more = unheard.len() == BATCH as usize;
        let mut suspicions = 0;
        for told in &unheard {
            suspicions += u32::from(weigh(coordinator, told).await?);
        }
        let cases = calibrations::going_on(&coordinator.store).await?;
        let workers = agents::workers(&coordinator.store).await?;
        let mut walk = Walk::begin(coordinator, &workers);
        for case in &cases {
            walk.step(case).await?;
        }
        let steps = walk.finish();
        if suspicions + steps > 0 {
            coordinator.events.tell(Change::Delegations);
        }
        Ok(match (suspicions + steps > 0, more) {
            (false, false) => Outcome::Idle,
            (_, true) => Outcome::More(format!("weighed what was told of {BATCH} subnets")),
            (true, false) => Outcome::Done(format!(
                "found {} with slower pages, made {} in {}",
                counted(suspicions, "subnet"),
                counted(steps, "step"),
                counted(cases.len(), "case"),
            )),
        })
    }
}

/// Hears what was told of a subnet; whether that opened a case.
async fn weigh(coordinator: &Coordinator, told: &Unheard) -> Result<bool, anyhow::Error> {
    let (now, rest) = (coordinator.now(), rest(&coordinator.policy.load()));
    let mut hearing = match (&told.hearing, told.delegated_at) {
        (Some(hearing), _) => serde_json::from_value(hearing.clone())?,
        (None, Some(decided)) => {
            let mut hearing = Hearing::default();
            hearing.delegated(decided);
            hearing
        }
        (None, None) => Hearing::default(),
    };
    let mut suspicion = false;
    (0..told.usual).for_each(|_| hearing.usual(&rest, now));
    (0..told.slower).for_each(|_| suspicion = hearing.slower(&rest, now));
    let weighed = serde_json::to_value(hearing)?;
    if suspicion && told.delegated_at.is_some() {
        return Ok(calibrations::open(&coordinator.store, told, &weighed, now).await?);
    }
    hearings::heard(&coordinator.store, told, &weighed).await?;
    Ok(false)
}
