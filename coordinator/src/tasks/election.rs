//! Leader election: one coordinator of several decides, the one that holds a lock in Postgres.

use std::sync::Arc;
use std::time::Duration;

use hierarchy::Generation;
use store::{Candidacy, Election, Leadership};
use tokio_util::task::AbortOnDropHandle;

use crate::runtime::events::Event;
use crate::runtime::failure::chain;
use crate::runtime::uptime;
use crate::tasks::coordinator::Coordinator;

/// Time between two attempts, and between two checks that the lock is still held.
const PERIOD: Duration = Duration::from_secs(2);

/// What a coordinator is in the election.
enum Standing {
    Candidate(Candidacy),
    Leader(Leadership),
}

/// Takes part in the election until the coordinator stops, then resigns.
pub async fn run(coordinator: Arc<Coordinator>) {
    let mut standing: Option<Standing> = None;
    loop {
        standing = renew(&coordinator, standing)
            .await
            .inspect_err(|error| {
                tracing::warn!(error = chain(error.as_ref()), "cannot take part in the election");
            })
            .ok();
        tokio::select! {
            () = coordinator.stop.cancelled() => break,
            () = tokio::time::sleep(PERIOD) => {}
        }
    }
    coordinator.leader.end();
    if let Some(Standing::Leader(leadership)) = standing {
        leadership.resign().await;
    }
}

async fn renew(
    coordinator: &Arc<Coordinator>,
    standing: Option<Standing>,
) -> Result<Standing, anyhow::Error> {
    match standing {
        Some(Standing::Leader(leadership)) => {
            if let Some(leadership) = still_held(coordinator, leadership).await {
                return Ok(Standing::Leader(leadership));
            }
            coordinator.leader.end();
            // Only a leader keeps it up to date.
            coordinator.predictor.state.reset();
            stand(coordinator).await
        }
        Some(Standing::Candidate(candidacy)) => elect(coordinator, candidacy).await,
        None => stand(coordinator).await,
    }
}

/// Becomes a candidate, and the leader if there is none.
async fn stand(coordinator: &Arc<Coordinator>) -> Result<Standing, anyhow::Error> {
    let candidacy = tokio::select! {
        begun = Candidacy::begin(&coordinator.store) => begun?,
        // Connecting may take long, and can be cancelled at any time.
        () = coordinator.stop.cancelled() => anyhow::bail!("the coordinator stops"),
    };
    elect(coordinator, candidacy).await
}

/// The leadership, if it is still held; a lost one is logged.
async fn still_held(coordinator: &Coordinator, leadership: Leadership) -> Option<Leadership> {
    if coordinator.leader.term() != Some(leadership.term()) {
        // A statement was refused because of a later term, although the lock seems to be held.
        leadership.resign().await;
        return None;
    }
    let checked = leadership.check().await;
    checked
        .inspect_err(|error| {
            let error = chain(error);
            tracing::warn!(error, "lost the connection that carries the leadership");
        })
        .ok()
}

/// Becomes the leader, if there is none.
async fn elect(
    coordinator: &Arc<Coordinator>,
    candidacy: Candidacy,
) -> Result<Standing, anyhow::Error> {
    let leadership = match candidacy.ask().await? {
        Election::Waiting(candidacy) => return Ok(Standing::Candidate(candidacy)),
        Election::Won(leadership) => prepare_while_held(coordinator, leadership).await?,
    };
    coordinator.predictor.state.reset();
    // As long as another one led, agents may have lost URLs that this one has routed.
    coordinator.intake.recent_urls.forget();
    coordinator.leader.begin(leadership.term(), coordinator.now());
    tracing::info!(term = %leadership.term(), "this coordinator is the leader");
    coordinator.events.emit(Event::AnythingChanged);
    Ok(Standing::Leader(leadership))
}

/// Prepares this coordinator to lead, and keeps the leadership alive meanwhile: with millions of
/// delegations that takes longer than a connection may be silent.
async fn prepare_while_held(
    coordinator: &Arc<Coordinator>,
    mut leadership: Leadership,
) -> Result<Leadership, anyhow::Error> {
    // Runs as a task of its own, because building the delegation table does not yield and would
    // hold up the checks.
    let mut preparing = AbortOnDropHandle::new(tokio::spawn(prepare(Arc::clone(coordinator))));
    loop {
        tokio::select! {
            prepared = &mut preparing => {
                prepared??;
                return Ok(leadership);
            }
            () = tokio::time::sleep(PERIOD) => leadership = leadership.check().await?,
        }
    }
}

async fn prepare(coordinator: Arc<Coordinator>) -> Result<(), anyhow::Error> {
    // What the previous leader decided last must be in the table before the first search is driven.
    let writing = coordinator.hierarchy.writing().await;
    coordinator.hierarchy.reload_delegations(&coordinator.store, &writing).await?;
    // The previous leader may have stopped before it remapped the delegations to the generation
    // in use; remapping twice changes nothing.
    coordinator.hierarchy.set_remapped(Generation::new(0));
    drop(writing);
    // Done before the first search is driven, which must know for how long there was no leader.
    uptime::record(&coordinator.store, coordinator.now()).await
}
