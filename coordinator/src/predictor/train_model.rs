//! Background task: makes the model of places when the agents or what is known of their places
//! changed, and trains it with the decided searches.
//!
//! The model is a function of the agents' places and of the stored trails in the order of their
//! decisions, so that it is the same after a restart and at another leader.

use std::collections::HashMap;
use std::sync::Arc;

use delegation::home_measurements::mutual_times;
use delegation::places::{AgentMap, Levels, MappedAgents, PlaceModel, map_agents};
use delegation::plausibility::{HomeReports, LEAST_MS, ReferenceTimes, Trust, TrustLevel};
use hierarchy::Hierarchy;
use model::AgentId;
use store::Store;
use store::searches::{self, DecidedPosition, DecidedSearch};
use tokio::time::Instant;

use crate::predictor::Predictor;
use crate::predictor::agent_places::KnownAgents;
use crate::predictor::observation::millis;
use crate::predictor::state::TrainedModel;
use crate::predictor::training_window::{BLOCK, TrainingWindow};
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Decided searches that are read at once.
const BATCH: u32 = 5_000;

/// Makes a new model when the hierarchy, or what is known of the agents, has changed.
pub async fn run(predictor: &Predictor) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = predictor.hierarchy.current() else { return Ok(Outcome::Idle) };
    let began = Instant::now();
    let _training = predictor.state.training.lock().await;
    let Some(summary) = renew(predictor, delegated.hierarchy()).await? else {
        return Ok(Outcome::Idle);
    };
    predictor.events.emit(Event::AgentsMapped);
    Ok(Outcome::Done(format!("{summary} in {} ms", began.elapsed().as_millis())))
}

/// Makes sure that the model fits the hierarchy and has learned from all decided searches: a
/// search that continues after a restart must not change to the paper's order.
///
/// While another task trains it, searches use the present model, because to make a new one takes up
/// to a minute.
pub async fn ensure_trained(
    predictor: &Predictor,
    hierarchy: &Arc<Hierarchy>,
) -> Result<(), anyhow::Error> {
    let state = &predictor.state;
    let _training = match state.training.try_lock() {
        Ok(training) => training,
        Err(_) if state.model(hierarchy).is_some() => return Ok(()),
        Err(_) => state.training.lock().await,
    };
    match state.model(hierarchy) {
        Some(model) => train_further(predictor, hierarchy, &model).await,
        None => renew(predictor, hierarchy).await.map(|_| ()),
    }
}

/// Replaces the model if what it is made from has changed, and says what was done.
async fn renew(
    predictor: &Predictor,
    hierarchy: &Arc<Hierarchy>,
) -> Result<Option<String>, anyhow::Error> {
    let known = KnownAgents::read(&predictor.store, hierarchy, predictor.clock.now()).await?;
    let present = predictor.state.model(hierarchy);
    if present.as_ref().is_some_and(|model| model.known == known) {
        return Ok(None);
    }
    // What a moved agent measured before must be forgotten, also where the map stays the same.
    let is_moved = present.as_ref().is_some_and(|model| model.known.moves != known.moves);
    let (known, mapped, references) = tokio::task::spawn_blocking(move || {
        let mapped = map_agents(&known.claims, &mutual_times(&known.homes));
        let references = ReferenceTimes::new(&known.homes);
        (known, mapped, references)
    })
    .await?;
    let MappedAgents { map, missing } = mapped;
    let home_reports = HomeReports::judge_all(&references);
    let trust = Trust::of_all(&home_reports, HashMap::new());
    let is_forgery_found = trust.values().any(|trust| trust.level() == TrustLevel::Forging);
    let is_other_map = is_moved || present.as_ref().is_none_or(|model| model.map != map);
    let trained = if let Some(model) = present.filter(|_| !is_other_map) {
        LearnedPlaces { places: model.places.clone(), window: model.window }
    } else {
        let decided = searches::count_exactly(&predictor.store).await?;
        let skipped = TrainingWindow::skipped(decided, BLOCK);
        let start = searches::position_of_oldest(&predictor.store, skipped).await?;
        let fresh = LearnedPlaces::fresh(map.as_ref(), start);
        train(&predictor.store, hierarchy, map.as_ref(), fresh).await?
    };
    let done = trained.places.as_ref().filter(|_| is_other_map).map(describe);
    let model = TrainedModel {
        generation: hierarchy.generation(),
        known,
        map,
        missing,
        references: Arc::new(references),
        home_reports: Arc::new(home_reports),
        places: trained.places,
        window: trained.window,
    };
    predictor.state.replace(model);
    // Emitted only now, because the task that pauses agents reads the judgements of the model.
    if is_forgery_found {
        predictor.events.emit(Event::ForgeryFound);
    }
    Ok(done)
}

fn describe(places: &PlaceModel) -> String {
    format!(
        "mapped {} and trained with {}",
        quantity(places.agents().len(), "agent"),
        quantity(places.trails(), "trail")
    )
}

/// Trains the present model with the searches that were decided since.
async fn train_further(
    predictor: &Predictor,
    hierarchy: &Arc<Hierarchy>,
    model: &TrainedModel,
) -> Result<(), anyhow::Error> {
    let newer = searches::decided_after(&predictor.store, model.window.last, 1).await?;
    if newer.is_empty() {
        return Ok(());
    }
    let mut model = model.clone();
    let before = LearnedPlaces { places: model.places.take(), window: model.window };
    let LearnedPlaces { places, window } =
        train(&predictor.store, hierarchy, model.map.as_ref(), before).await?;
    predictor.state.replace(TrainedModel { places, window, ..model });
    Ok(())
}

/// A model, and the searches that it has learned from.
struct LearnedPlaces {
    places: Option<PlaceModel>,
    window: TrainingWindow,
}

impl LearnedPlaces {
    fn fresh(map: Option<&AgentMap>, start: DecidedPosition) -> Self {
        let places = map.cloned().map(AgentMap::into_model);
        Self { places, window: TrainingWindow::after(start, BLOCK) }
    }
}

/// Trains a model with all later searches, a new one where two blocks are full.
async fn train(
    store: &Store,
    hierarchy: &Arc<Hierarchy>,
    map: Option<&AgentMap>,
    mut learned: LearnedPlaces,
) -> Result<LearnedPlaces, anyhow::Error> {
    loop {
        if let Some(start) = learned.window.retrain_after() {
            learned = LearnedPlaces::fresh(map, start);
        }
        let batch = searches::decided_after(store, learned.window.last, BATCH).await?;
        if batch.is_empty() {
            return Ok(learned);
        }
        let hierarchy = Arc::clone(hierarchy);
        // Thousands of trails take seconds, which would stall the threads of the runtime.
        learned = tokio::task::spawn_blocking(move || {
            for decided in &batch {
                learned.window.read(decided.position);
                if let Some(places) = &mut learned.places {
                    learn(places, &hierarchy, decided);
                }
            }
            learned
        })
        .await?;
    }
}

fn learn(places: &mut PlaceModel, hierarchy: &Hierarchy, decided: &DecidedSearch) {
    let Some(subnet) = hierarchy.find(&decided.subnet) else { return };
    let time = |(agent, rtt_us): &(AgentId, u32)| {
        let ms = millis(*rtt_us);
        // No network stack answers faster; the report of such a time teaches nothing.
        (ms >= LEAST_MS).then_some((*agent, ms))
    };
    let times: Vec<(AgentId, f64)> = decided.times.iter().filter_map(time).collect();
    places.learn(Levels::of(hierarchy, subnet), &times);
}
