//! Orders to measure become reports.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use model::ProbeId;
use protocol::{ProbeOrder, ProbeReport, ProbeResult, probe::Reports};
use tokio::{
    sync::{Semaphore, mpsc, watch},
    task::JoinSet,
};

use super::{
    AgentError, Shared,
    readiness::{IdleReason, Readiness},
};
use crate::{backoff::Backoff, clock, error_line};

/// Most reports in one call.
const TOGETHER: usize = 50;

/// Orders that were taken and are not reported yet.
#[derive(Default)]
pub(super) struct TakenProbes(Mutex<BTreeSet<ProbeId>>);

impl TakenProbes {
    /// Whether the order is new.
    pub(super) fn add(&self, probe: ProbeId) -> bool {
        self.lock().insert(probe)
    }

    pub(super) fn list(&self) -> Vec<ProbeId> {
        self.lock().iter().copied().collect()
    }

    fn remove(&self, reports: &[ProbeReport]) {
        let mut taken = self.lock();
        for report in reports {
            taken.remove(&report.probe);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<ProbeId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Measures, several at a time.
pub(super) async fn measure(
    shared: Arc<Shared>,
    mut orders: mpsc::Receiver<ProbeOrder>,
    reports: mpsc::Sender<ProbeReport>,
) -> Result<(), AgentError> {
    let places = Arc::new(Semaphore::new(shared.config.probe.concurrency));
    let mut measuring = JoinSet::new();
    while let Some(Some(order)) = shared.stop.run_until_cancelled(orders.recv()).await {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return Ok(()) };
        let (shared, reports) = (Arc::clone(&shared), reports.clone());
        measuring.spawn(async move {
            let report = take(&shared, &order).await;
            drop(place);
            // Fails only when everything is ending; the order is handed out again.
            drop(reports.send(report).await);
        });
        while measuring.try_join_next().is_some() {}
    }
    measuring.shutdown().await;
    Ok(())
}

async fn take(shared: &Shared, order: &ProbeOrder) -> ProbeReport {
    let mut readiness = shared.readiness.subscribe();
    let result = tokio::select! {
        biased;
        idle = idle_reason(&mut readiness) => ProbeResult::Refused { reason: idle.to_string() },
        result = shared.prober.measure(order, shared.visitor.delay()) => result,
    };
    ProbeReport { probe: order.probe, measured_at: clock::now(), result }
}

/// Waits until something keeps the agent from probing, which may come while a probe waits for the
/// owner's budget, and says what.
async fn idle_reason(readiness: &mut watch::Receiver<Readiness>) -> IdleReason {
    let found = readiness.wait_for(|readiness| readiness.idle_reason().is_some()).await;
    found.ok().and_then(|readiness| readiness.idle_reason()).unwrap_or(IdleReason::Draining)
}

/// Reports, and goes on trying through outages.
pub(super) async fn report(
    shared: Arc<Shared>,
    mut done: mpsc::Receiver<ProbeReport>,
) -> Result<(), AgentError> {
    let mut probes = Vec::with_capacity(TOGETHER);
    while let Some(1..) =
        shared.stop.run_until_cancelled(done.recv_many(&mut probes, TOGETHER)).await
    {
        let reports = Reports { probes: std::mem::take(&mut probes) };
        let sent = shared.stop.run_until_cancelled(send(&shared, &reports)).await;
        if sent.is_none() {
            return Ok(());
        }
        shared.taken.remove(&reports.probes);
    }
    Ok(())
}

async fn send(shared: &Shared, reports: &Reports) {
    let mut backoff = Backoff::default();
    while let Err(error) = shared.coordinator.report(reports).await {
        let failure = error_line::of(&error);
        if !error.may_pass() {
            tracing::error!(failure, "measurements were refused");
            return;
        }
        let pause = backoff.next(rand::random());
        tracing::warn!(failure, ?pause, "measurements could not be reported");
        tokio::time::sleep(pause).await;
    }
}
