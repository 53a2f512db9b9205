//! Landmarks are chosen, and replaced when they die.

use model::{LandmarkId, Strategy};
use store::landmarks;

use crate::predictor::Predictor;
use crate::predictor::{State, anycast, plan};
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Decided searches to choose from.
const LOOK_BACK: u32 = 50_000;
/// A landmark that was retired is not chosen again for so long.
const REST_MS: i64 = 30 * 86_400_000;
const MINUTE_MS: i64 = 60_000;
/// The times are read in every tenth minute only: there may be a million.
const THOROUGH: i64 = 10;
/// Orders of today and yesterday are kept for the budgets.
const KEPT_MS: i64 = 2 * 86_400_000;
/// Landmarks read at once: all of them.
const ALL: i64 = 100_000;

/// Keeps as many landmarks as the policy allows and the known subnets are worth. They are chosen
/// from subnets whose address answered in a search, spread over countries and companies; who dies,
/// moves or turns out to be anycast is replaced.
pub async fn run(predictor: &Predictor) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = predictor.hierarchy.current() else { return Ok(Outcome::Idle) };
    let policy = predictor.policy.load_full();
    if policy.strategy != Strategy::Predictive {
        return Ok(Outcome::Idle);
    }
    let (store, now) = (&predictor.store, predictor.clock.now());
    let thorough = now.0.div_euclid(MINUTE_MS) % THOROUGH == 0;
    let most = policy.landmarks as usize;
    let count = landmarks::count(store).await? as usize;
    if count == most && !thorough {
        return Ok(Outcome::Idle);
    }
    let live = landmarks::live(store, LandmarkId::new(0), ALL).await?;
    let mut times = Vec::new();
    if thorough {
        times = landmarks::times(store).await?;
        landmarks::forget(store, now.plus_ms(-KEPT_MS)).await?;
    }
    let spots = landmarks::answering(store, now.plus_ms(-REST_MS), LOOK_BACK).await?;
    let anycast = predictor.insight.with_clusters(|clusters| anycast(clusters, &times));
    let state = State {
        live: &live,
        times: &times,
        anycast: &anycast.unwrap_or_default(),
        answering: &spots,
        most,
    };
    let plan = plan(delegated.hierarchy(), &state);
    let retired = landmarks::retire(store, &plan.retired, now).await?;
    let chosen = landmarks::choose(store, &plan.chosen, now).await?;
    if retired + chosen == 0 {
        return Ok(Outcome::Idle);
    }
    predictor.events.emit(Event::LandmarksChosen);
    Ok(Outcome::Done(format!("chose {}, retired {retired}", quantity(chosen, "landmark"))))
}
