//! Probes: measures round trips that the coordinator orders, and reports them.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use model::ProbeId;
use protocol::{ProbeOrder, ProbeReport, ProbeResult, probe::Reports};
use tokio::{
    sync::{Semaphore, mpsc, watch},
    task::JoinSet,
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    AgentError,
    readiness::{Readiness, ReadinessSignal},
};
use crate::{
    backoff::Backoff, coordinator_client::CoordinatorClient, error_line, metrics::Metrics,
    probe::Prober, visit::Visitor,
};

/// Most reports in one call.
const MAX_REPORTS: usize = 50;

/// Probes that were taken on and are not reported yet. The coordinator repeats orders, so that the
/// same probe may arrive twice.
#[derive(Default)]
pub(super) struct AcceptedProbes(Mutex<BTreeSet<ProbeId>>);

impl AcceptedProbes {
    /// Adds a probe; returns whether it is new.
    pub(super) fn add(&self, probe: ProbeId) -> bool {
        self.lock().insert(probe)
    }

    pub(super) fn list(&self) -> Vec<ProbeId> {
        self.lock().iter().copied().collect()
    }

    fn remove(&self, probe: ProbeId) {
        self.lock().remove(&probe);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<ProbeId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Task that measures, several probes at a time.
pub(super) struct ProbeTask {
    pub(super) prober: Arc<Prober>,
    pub(super) accepted: Arc<AcceptedProbes>,
    /// Knows the delay between two requests to a host, which HEAD probes obey.
    pub(super) visitor: Arc<Visitor>,
    pub(super) readiness: ReadinessSignal,
    pub(super) concurrency: usize,
    pub(super) metrics: Metrics,
}

impl ProbeTask {
    pub(super) async fn run(
        self,
        mut orders: mpsc::Receiver<ProbeOrder>,
        reports: mpsc::Sender<ProbeReport>,
        stop: CancellationToken,
    ) -> Result<(), AgentError> {
        let task = Arc::new(self);
        let permits = Arc::new(Semaphore::new(task.concurrency));
        let mut measuring = JoinSet::new();
        while let Some(Some(order)) = stop.run_until_cancelled(orders.recv()).await {
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return Ok(()) };
            let task = Arc::clone(&task);
            let reports = reports.clone();
            measuring.spawn(async move {
                let report = task.measure(&order).await;
                drop(permit);
                let Some(report) = report else {
                    // The coordinator takes the order back with the next heartbeat, or repeats it.
                    task.accepted.remove(order.probe);
                    return;
                };
                task.metrics.probed(&report.result);
                // Fails only when the agent is stopping; the coordinator repeats the order.
                drop(reports.send(report).await);
            });
            while measuring.try_join_next().is_some() {}
        }
        measuring.shutdown().await;
        Ok(())
    }

    /// Carries an order out; none where the agent may not probe now, which tells nothing of the
    /// address that was to be measured.
    async fn measure(&self, order: &ProbeOrder) -> Option<ProbeReport> {
        let began = Instant::now();
        let mut readiness = self.readiness.subscribe();
        let result = tokio::select! {
            // In this order, so that nothing is sent where the agent may not work at all.
            biased;
            () = becomes_idle(&mut readiness) => None,
            result = self.prober.measure(order, self.visitor.delay()) => result,
        }?;
        // A line that is down tells nothing of the address either.
        let is_unreachable = matches!(result, ProbeResult::Unreachable { .. });
        if is_unreachable && self.visitor.line_outage_since(began).is_some() {
            return None;
        }
        Some(ProbeReport { probe: order.probe, result })
    }
}

/// Waits until the agent may not probe, which may happen while a probe waits for the owner's
/// budget.
async fn becomes_idle(readiness: &mut watch::Receiver<Readiness>) {
    // An error means that the agent is stopping.
    drop(readiness.wait_for(|readiness| readiness.idle_reason().is_some()).await);
}

/// Task that reports measurements, and retries through outages.
pub(super) async fn report(
    client: Arc<CoordinatorClient>,
    taken: Arc<AcceptedProbes>,
    readiness: ReadinessSignal,
    mut done: mpsc::Receiver<ProbeReport>,
) -> Result<(), AgentError> {
    let mut probes = Vec::with_capacity(MAX_REPORTS);
    while done.recv_many(&mut probes, MAX_REPORTS).await > 0 {
        let reports = Reports { probes: std::mem::take(&mut probes) };
        send(&client, &readiness, &reports).await;
        for report in &reports.probes {
            taken.remove(report.probe);
        }
    }
    Ok(())
}

async fn send(client: &CoordinatorClient, readiness: &ReadinessSignal, reports: &Reports) {
    let mut backoff = Backoff::default();
    loop {
        readiness.until_awake().await;
        let Err(error) = client.report(reports).await else { return };
        let failure = error_line::of(&error);
        if error.is_refusal() {
            tracing::error!(failure, "measurements were refused");
            return;
        }
        let pause = backoff.next(rand::random());
        tracing::warn!(failure, ?pause, "measurements could not be reported");
        tokio::time::sleep(pause).await;
    }
}
