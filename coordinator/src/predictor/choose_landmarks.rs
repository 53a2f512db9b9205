//! Background task: chooses landmarks, and replaces those that fail.

use std::sync::PoisonError;

use hierarchy::Generation;
use model::{LandmarkId, Strategy};
use store::{landmarks, searches};

use crate::predictor::Predictor;
use crate::predictor::landmark_plan::{PlanInput, detect_anycast_landmarks, plan_landmarks};
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Newest decided searches whose targets are candidates for landmarks.
const LOOK_BACK: u32 = 50_000;
/// A landmark that was retired is not chosen again for so long.
const REST_MS: i64 = 30 * 86_400_000;
const MINUTE_MS: i64 = 60_000;
/// The times of landmarks are read every tenth minute only: there may be a million.
const CHECK_MINUTES: i64 = 10;
/// Probes of landmarks are kept for today and yesterday, because the budget counts them.
const KEPT_MS: i64 = 2 * 86_400_000;
/// Above the number of landmarks that the policy can allow.
const ALL: i64 = 100_000;

/// What landmarks are chosen from. While it is the same, the choice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    generation: Generation,
    /// Number of landmarks in use, and the newest.
    landmarks: (i64, i64),
    /// Landmarks that the policy allows.
    max: usize,
    /// Searches that are over.
    decided: i64,
}

/// The choice, and the time of the newest report when the health of landmarks was last checked.
pub(super) type ChoiceStamp = (Choice, i64);

/// Keeps as many landmarks as the policy allows and the known subnets justify. They are chosen
/// from subnets whose address answered a search, spread over countries and companies. A landmark
/// that dies, moves or turns out to be anycast is replaced.
pub async fn run(predictor: &Predictor) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = predictor.hierarchy.current() else { return Ok(Outcome::Idle) };
    let policy = predictor.policy.load_full();
    if policy.strategy != Strategy::Predictive {
        return Ok(Outcome::Idle);
    }
    let store = &predictor.store;
    let now = predictor.clock.now();
    let max = policy.landmarks as usize;
    let stamp = landmarks::stamp(store).await?;
    let present = Choice {
        generation: delegated.hierarchy().generation(),
        landmarks: (stamp.landmarks, stamp.last_landmark),
        max,
        decided: searches::count_decided(store).await?,
    };
    let last = predictor.state.chosen_from.lock().unwrap_or_else(PoisonError::into_inner).take();
    let checks_health = now.0.div_euclid(MINUTE_MS) % CHECK_MINUTES == 0
        && last.is_none_or(|(_, newest_us)| newest_us != stamp.newest_us);
    let is_full = stamp.landmarks == i64::try_from(max).unwrap_or(i64::MAX);
    let is_known = is_full || last.is_some_and(|(before, _)| before == present);
    let remember = |newest_us| {
        let mut chosen_from =
            predictor.state.chosen_from.lock().unwrap_or_else(PoisonError::into_inner);
        *chosen_from = Some((present, newest_us));
    };
    if is_known && !checks_health {
        remember(last.map_or(0, |(_, newest_us)| newest_us));
        return Ok(Outcome::Idle);
    }
    let live = landmarks::live(store, LandmarkId::new(0), ALL).await?;
    // Without times no landmark counts as failed; the plan then only fills up.
    let mut reports = Vec::new();
    if checks_health {
        reports = landmarks::times(store).await?;
        landmarks::forget(store, now.plus_ms(-KEPT_MS)).await?;
    }
    let candidates = landmarks::answering(store, now.plus_ms(-REST_MS), LOOK_BACK).await?;
    let hierarchy = delegated.hierarchy();
    let anycast = predictor
        .state
        .with_clusters(|clusters| detect_anycast_landmarks(hierarchy, clusters, &reports))
        .unwrap_or_default();
    let input = PlanInput {
        live: &live,
        reports: &reports,
        anycast: &anycast,
        candidates: &candidates,
        max,
    };
    let plan = plan_landmarks(hierarchy, &input);
    let retired = landmarks::retire(store, &plan.retired, now).await?;
    let chosen = landmarks::choose(store, &plan.chosen, now).await?;
    remember(if checks_health { stamp.newest_us } else { last.map_or(0, |(_, at)| at) });
    if retired + chosen == 0 {
        return Ok(Outcome::Idle);
    }
    predictor.events.emit(Event::LandmarksChosen);
    Ok(Outcome::Done(format!("chose {}, retired {retired}", quantity(chosen, "landmark"))))
}
