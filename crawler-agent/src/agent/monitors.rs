//! Monitors: tasks that watch clock, owner, disk, network and kept connections, and the task that
//! writes the status file.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use model::{AgentId, AgentState};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    AgentError,
    error::machine,
    idle_reason::IdleReason,
    readiness::{Phase, Readiness, ReadinessSignal, idle_reason},
};
use crate::{
    clock,
    config::{Config, Limits},
    data_dir::{LEAVE_REQUEST, OWNERS_PAUSE},
    disk, elapsed_clock,
    fetch::Fetcher,
    guard::{Guard, GuardRules, on_link_prefixes},
    lock::lock,
    owner::gate::Gate,
    peers::Peers,
    resolve::Resolver,
    status::{CoordinatorAnswer, StatusFile},
    update::UpdateStatus,
    visit::Visitor,
};

/// Period of checks of the clock and of the owner's pause. Polling instead of one long sleep: the
/// clock may be set, and machines may be suspended.
const CLOCK_PERIOD: Duration = Duration::from_secs(1);
/// Period of disk and network checks.
const MACHINE_PERIOD: Duration = Duration::from_secs(10);
/// Period in which the status file is written.
const STATUS_PERIOD: Duration = Duration::from_secs(1);

/// Readiness before any task starts: a full disk, a pause, a closed span or a budget that is used
/// up holds from the first moment.
pub(super) fn initial_readiness(
    config: &Config,
    dir: &Path,
    gate: &Gate,
) -> Result<ReadinessSignal, AgentError> {
    let shortage = disk::shortage(dir, &config.limits).map_err(machine("examining the disk"))?;
    let asleep = gate.asleep();
    let paused_by_owner = OWNERS_PAUSE.is_set(dir);
    let used_up = gate.used_up();
    let readiness =
        Readiness { asleep, paused_by_owner, used_up, shortage, ..Readiness::default() };
    Ok(ReadinessSignal::new(readiness))
}

/// Task that keeps the owner's hours and budgets, and notices the end of the lease.
pub(super) async fn watch_clock(
    gate: Arc<Gate>,
    visitor: Arc<Visitor>,
    readiness: ReadinessSignal,
) -> Result<(), AgentError> {
    let mut tick = tokio::time::interval(CLOCK_PERIOD);
    loop {
        tick.tick().await;
        let is_lent = visitor.peers.as_ref().is_some_and(|peers| peers.may_work());
        readiness.change(|readiness| {
            // An agent that its owner ends talks to the coordinator at all hours, but it does not
            // fetch any pages.
            let is_ending = matches!(readiness.phase, Phase::Leaving | Phase::Finishing);
            readiness.asleep = if is_ending { None } else { gate.asleep() };
            readiness.used_up = gate.used_up();
            // Asked here, because a heartbeat may renew the lease and change this meanwhile.
            readiness.lease_expired = !visitor.lease.holds() && !is_lent;
        });
    }
}

/// Difference of the two clocks that is a suspension of the machine.
const SUSPENSION_MS: u64 = 5_000;

/// Task that notices when the machine was suspended.
pub(super) async fn watch_suspensions(visitor: Arc<Visitor>) -> Result<(), AgentError> {
    let monotonic = Instant::now();
    let elapsed = elapsed_clock::now();
    let mut known_ms = 0;
    let mut tick = tokio::time::interval(CLOCK_PERIOD);
    loop {
        tick.tick().await;
        let awake_ms = u64::try_from(monotonic.elapsed().as_millis()).unwrap_or(u64::MAX);
        let suspended_ms = elapsed_clock::now().since(elapsed).saturating_sub(awake_ms);
        let more_ms = suspended_ms.saturating_sub(known_ms);
        if more_ms >= SUSPENSION_MS {
            known_ms = suspended_ms;
            let time = Duration::from_millis(more_ms);
            tracing::info!(?time, "the machine was suspended");
            visitor.was_suspended(time);
        }
    }
}

/// Time for which an agent that does not know when it will work again announces a sleep.
const UNKNOWN_SLEEP: Duration = Duration::from_hours(24);

/// Difference of two ends of a sleep that is not announced.
const SAME_END: Duration = Duration::from_mins(1);

/// Task that tells the region when the agent stops working for a while, so that others take its
/// hosts over at once, and when it works again. A sleep that ends later, for another reason, is
/// announced again: at its former end the others would take the agent for dead.
pub(super) async fn announce_sleep(
    peers: Arc<Peers>,
    readiness: ReadinessSignal,
) -> Result<(), AgentError> {
    let mut readiness = readiness.subscribe();
    let mut announced: Option<Instant> = None;
    loop {
        let sleeps = readiness.borrow_and_update().idle_reason().as_ref().and_then(sleep_of);
        let end = sleeps.map(|sleeps| Instant::now() + sleeps);
        let is_later = end > announced.map(|end| end + SAME_END);
        if is_later || end.is_some() != announced.is_some() {
            announced = end;
            peers.set_asleep(sleeps);
        }
        if readiness.changed().await.is_err() {
            return Ok(());
        }
    }
}

/// How long the agent does not work, for reasons that last.
fn sleep_of(reason: &IdleReason) -> Option<Duration> {
    let until = match reason {
        IdleReason::Asleep(sleep) => sleep.until,
        IdleReason::UsedUp(used_up) => Some(used_up.until),
        IdleReason::PausedByOwner
        | IdleReason::Paused
        | IdleReason::Clock(_)
        | IdleReason::Disk(_)
        | IdleReason::Finishing
        | IdleReason::Leaving
        | IdleReason::Draining => None,
        // Other programs use the machine for minutes only, and the absence of the coordinator is no
        // reason to sleep.
        IdleReason::Busy(_)
        | IdleReason::NotConnected(_)
        | IdleReason::Pending
        | IdleReason::Revoked
        | IdleReason::Offline(_)
        | IdleReason::NothingToDo => return None,
    };
    Some(until.map_or(UNKNOWN_SLEEP, clock::until))
}

/// Task that notices when the owner pauses or resumes the agent, or ends it for good.
pub(super) async fn watch_owner(
    dir: PathBuf,
    readiness: ReadinessSignal,
    leave: CancellationToken,
) -> Result<(), AgentError> {
    let mut tick = tokio::time::interval(CLOCK_PERIOD);
    loop {
        tick.tick().await;
        let paused_by_owner = OWNERS_PAUSE.is_set(&dir);
        readiness.change(|readiness| readiness.paused_by_owner = paused_by_owner);
        if LEAVE_REQUEST.is_set(&dir) {
            leave.cancel();
        }
    }
}

/// Task that notices when the disk gets short.
pub(super) async fn watch_disk(
    dir: PathBuf,
    limits: Limits,
    readiness: ReadinessSignal,
) -> Result<(), AgentError> {
    let mut tick = tokio::time::interval(MACHINE_PERIOD);
    loop {
        tick.tick().await;
        let dir = dir.clone();
        let limits = limits.clone();
        let measured = tokio::task::spawn_blocking(move || disk::shortage(&dir, &limits)).await;
        match measured {
            Ok(Ok(shortage)) => readiness.change(|readiness| readiness.shortage = shortage),
            Ok(Err(error)) => tracing::warn!(%error, "the disk cannot be examined"),
            // The runtime is shutting down.
            Err(_) => {}
        }
    }
}

/// Task that tells the guard when the machine has joined or left a network, and follows it to other
/// name servers.
pub(super) async fn watch_network(
    rules: Arc<GuardRules>,
    resolver: Arc<Resolver>,
) -> Result<(), AgentError> {
    let mut tick = tokio::time::interval(MACHINE_PERIOD);
    loop {
        tick.tick().await;
        let of_system = Arc::clone(&resolver);
        let looking = tokio::task::spawn_blocking(move || {
            of_system.follow_system();
            on_link_prefixes()
        });
        match looking.await {
            Ok(Ok(on_link)) => resolver.set_guard(Guard::new(Arc::clone(&rules), on_link)),
            // The guard keeps the networks that it knew.
            Ok(Err(error)) => tracing::warn!(%error, "the network interfaces cannot be listed"),
            // The runtime is shutting down.
            Err(_) => {}
        }
    }
}

/// Task that closes connections that were kept for too long, while no visit does it: their hosts
/// may have closed them long ago.
pub(super) async fn close_old_connections(fetcher: Arc<Fetcher>) -> Result<(), AgentError> {
    let mut tick = tokio::time::interval(MACHINE_PERIOD);
    loop {
        tick.tick().await;
        fetcher.close_old_connections();
    }
}

/// Task that writes the status file.
pub(super) struct StatusWriter {
    pub(super) dir: PathBuf,
    pub(super) agent: AgentId,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) coordinator: String,
    pub(super) visitor: Arc<Visitor>,
    pub(super) gate: Arc<Gate>,
    pub(super) readiness: ReadinessSignal,
    /// Fingerprint of the agent's key.
    pub(super) fingerprint: String,
    /// What the coordinator said before this start.
    pub(super) earlier_answer: Option<CoordinatorAnswer>,
    pub(super) update_status: Arc<Mutex<Option<UpdateStatus>>>,
}

impl StatusWriter {
    pub(super) async fn run(self) -> Result<(), AgentError> {
        let mut tick = tokio::time::interval(STATUS_PERIOD);
        loop {
            tick.tick().await;
            self.write();
        }
    }

    pub(super) fn write(&self) {
        let Some(status) = self.current() else { return };
        if let Err(error) = status.write(&self.dir) {
            tracing::warn!(%error, "the status file cannot be written");
        }
    }

    /// What the coordinator says of the agent: its last answer, be it from before this start.
    fn coordinator_answer(&self, state: Option<AgentState>) -> Option<CoordinatorAnswer> {
        let answered = state.zip(self.readiness.answered_at());
        let now = answered.map(|(state, at)| CoordinatorAnswer { state, at: clock::timestamp(at) });
        now.or(self.earlier_answer)
    }

    /// The status now; none when the frontier has failed.
    pub(super) fn current(&self) -> Option<StatusFile> {
        let counts = self.visitor.store.counts().ok()?;
        let readiness = self.readiness.current();
        let idle = idle_reason(&readiness, &self.visitor);
        let usage = self.gate.usage();
        Some(StatusFile {
            at: clock::timestamp(clock::now()),
            pid: std::process::id(),
            agent: self.agent,
            name: self.name.clone(),
            coordinator: self.coordinator.clone(),
            version: self.version.clone(),
            working: idle.is_none(),
            idle: idle.as_ref().map(|idle| idle.as_str().to_owned()),
            idle_reason: idle.map(|idle| idle.to_string()),
            coordinator_answer: self.coordinator_answer(readiness.state),
            fingerprint: Some(self.fingerprint.clone()),
            unreachable: readiness.call_error().map(ToOwned::to_owned),
            hosts: counts.hosts,
            queued: counts.queued,
            in_flight: self.visitor.schedule.in_flight() as u64,
            fetched: counts.fetched,
            wire_bytes: counts.wire_bytes,
            requests_today: usage.pages,
            bytes_today: usage.bytes,
            bytes_this_month: usage.month_bytes,
            unpacked: counts.results,
            unshipped: counts.packages,
            has_package_conflict: self.readiness.has_package_conflict(),
            update: lock(&self.update_status).clone(),
            region: self.visitor.peers.as_ref().and_then(|peers| peers.status()),
        })
    }
}
