//! Looks at the clock, the disk, the network, and tells the owner how it goes.

use std::{sync::Arc, time::Duration};

use model::UnixMillis;

use super::{AgentError, Shared, readiness::IdleReason};
use crate::{
    clock, disk,
    frontier::Frontier,
    guard::{Guard, on_link_prefixes},
    spans::Spans,
    status::StatusFile,
};

/// How often the clock is looked at: it may be set, and machines may sleep.
const CLOCK: Duration = Duration::from_secs(1);
/// How often disk and network are looked at.
const MACHINE: Duration = Duration::from_secs(10);
/// How often the status is written.
const STATUS: Duration = Duration::from_secs(1);

/// Keeps the owner's hours.
pub(super) async fn spans(shared: Arc<Shared>) -> Result<(), AgentError> {
    let mut tick = tokio::time::interval(CLOCK);
    while shared.stop.run_until_cancelled(tick.tick()).await.is_some() {
        let asleep = asleep(&shared.config.spans);
        let lease_expired = !shared.lease.holds();
        shared.change(|readiness| {
            readiness.asleep = asleep;
            readiness.lease_expired = lease_expired;
        });
    }
    Ok(())
}

/// Whether the agent must sleep now; until when, if that ever ends.
#[expect(clippy::option_option, reason = "asleep without an end is not the same as awake")]
pub(super) fn asleep(spans: &Spans) -> Option<Option<UnixMillis>> {
    let now = clock::timestamp(clock::now());
    (!spans.awake(now)).then(|| spans.next_change(now).map(clock::unix_millis))
}

/// Keeps the owner's room on the disk, and the guard's knowledge of the network.
pub(super) async fn machine(shared: Arc<Shared>) -> Result<(), AgentError> {
    let mut tick = tokio::time::interval(MACHINE);
    while shared.stop.run_until_cancelled(tick.tick()).await.is_some() {
        let (dir, limits) = (shared.dir.clone(), shared.config.limits.clone());
        let looked = tokio::task::spawn_blocking(move || {
            (disk::shortage(&dir, &limits), on_link_prefixes())
        });
        let Ok((shortage, on_link)) = looked.await else { continue };
        match shortage {
            Ok(shortage) => shared.change(|readiness| readiness.shortage = shortage),
            Err(error) => tracing::warn!(%error, "the disk can't be looked at"),
        }
        match on_link {
            Ok(on_link) => {
                shared.resolver.set_guard(Guard::new(shared.config.guard.clone(), on_link));
            }
            Err(error) => {
                tracing::warn!(%error, "the network interfaces can't be read; the guard stays as it is");
            }
        }
    }
    Ok(())
}

/// Writes the status file.
pub(super) async fn status(shared: Arc<Shared>) -> Result<(), AgentError> {
    let mut tick = tokio::time::interval(STATUS);
    while shared.stop.run_until_cancelled(tick.tick()).await.is_some() {
        write_status(&shared).await;
    }
    Ok(())
}

pub(super) async fn write_status(shared: &Shared) {
    let Ok(counts) = shared.store.read(Frontier::counts).await else { return };
    let readiness = shared.readiness.borrow().clone();
    let idle = readiness
        .idle_reason()
        .or((!shared.schedule.has_work()).then_some(IdleReason::NothingToDo));
    let status = StatusFile {
        at: clock::timestamp(clock::now()),
        pid: std::process::id(),
        agent: shared.id,
        name: shared.config.profile.name.clone(),
        coordinator: shared.config.coordinator.to_string(),
        version: shared.config.profile.version.clone(),
        working: idle.is_none(),
        idle: idle.as_ref().map(|idle| idle.as_str().to_owned()),
        idle_reason: idle.map(|idle| idle.to_string()),
        unreachable: readiness.unreachable,
        hosts: counts.hosts,
        queued: counts.queued,
        in_flight: shared.schedule.in_flight() as u64,
        fetched: counts.fetched,
        wire_bytes: counts.wire_bytes,
        unpacked: counts.results,
        unshipped: counts.packages,
    };
    if let Err(error) = status.write(&shared.dir) {
        tracing::warn!(%error, "the status file can't be written");
    }
}
