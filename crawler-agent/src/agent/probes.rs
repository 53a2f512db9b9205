//! Probes: measures round trips that the coordinator orders, and reports them.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
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
    backoff::Backoff, coordinator_client::CoordinatorClient, error_line, lock::lock, probe::Prober,
    visit::Visitor,
};

/// Most reports in one call.
const MAX_REPORTS: usize = 50;
/// Time after which an order that was not carried out is dropped: the coordinator has taken it back
/// and made another one by then.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Probes that were taken on and are not reported yet. The coordinator repeats orders, so that the
/// same probe may arrive twice.
#[derive(Default)]
pub(super) struct AcceptedProbes(Mutex<BTreeSet<ProbeId>>);

impl AcceptedProbes {
    /// Adds a probe; returns whether it is new.
    fn add(&self, probe: ProbeId) -> bool {
        lock(&self.0).insert(probe)
    }

    pub(super) fn list(&self) -> Vec<ProbeId> {
        lock(&self.0).iter().copied().collect()
    }

    fn remove(&self, probe: ProbeId) {
        lock(&self.0).remove(&probe);
    }
}

/// A probe order that waits for the prober.
pub(super) struct QueuedOrder {
    order: ProbeOrder,
    since: Instant,
}

impl QueuedOrder {
    /// When it is dropped if it was not carried out.
    fn ends(&self) -> Instant {
        self.since + LONGEST_WAIT
    }

    fn is_stale(&self, now: Instant) -> bool {
        now > self.ends()
    }
}

/// Probe orders on their way to the prober.
pub(super) struct ProbeQueue {
    pub(super) accepted: Arc<AcceptedProbes>,
    pub(super) orders: mpsc::Sender<QueuedOrder>,
}

impl ProbeQueue {
    /// Takes an order on; returns whether it is new and has room. It does not wait for room: the
    /// owner's budget may allow a few targets a minute, and the next heartbeat must not wait for
    /// them.
    pub(super) fn offer(&self, order: ProbeOrder, now: Instant) -> bool {
        let probe = order.probe;
        if !self.accepted.add(probe) {
            return false;
        }
        let is_queued = self.orders.try_send(QueuedOrder { order, since: now }).is_ok();
        if !is_queued {
            // The coordinator repeats the order or takes it back.
            self.accepted.remove(probe);
        }
        is_queued
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
}

impl ProbeTask {
    pub(super) async fn run(
        self,
        mut orders: mpsc::Receiver<QueuedOrder>,
        reports: mpsc::Sender<ProbeReport>,
        stop: CancellationToken,
    ) -> Result<(), AgentError> {
        let task = Arc::new(self);
        let permits = Arc::new(Semaphore::new(task.concurrency));
        let mut measuring = JoinSet::new();
        while let Some(Some(queued)) = stop.run_until_cancelled(orders.recv()).await {
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return Ok(()) };
            if queued.is_stale(Instant::now()) {
                task.accepted.remove(queued.order.probe);
                continue;
            }
            let task = Arc::clone(&task);
            let reports = reports.clone();
            measuring.spawn(async move {
                let report = task.measure(&queued).await;
                drop(permit);
                let Some(report) = report else {
                    // The coordinator takes the order back with the next heartbeat, or repeats it.
                    task.accepted.remove(queued.order.probe);
                    return;
                };
                task.visitor.metrics.probed(&report.result);
                // Fails only when the agent is stopping; the coordinator repeats the order.
                drop(reports.send(report).await);
            });
            while measuring.try_join_next().is_some() {}
        }
        measuring.shutdown().await;
        Ok(())
    }

    /// Carries an order out; none where the agent may not probe now or the order is too old, which
    /// tells nothing of the address that was to be measured.
    async fn measure(&self, queued: &QueuedOrder) -> Option<ProbeReport> {
        let order = &queued.order;
        let began = Instant::now();
        let mut readiness = self.readiness.subscribe();
        let result = tokio::select! {
            // Checked in this order, so that nothing is sent while the agent may not work at all.
            biased;
            () = becomes_idle(&mut readiness) => None,
            result = self.prober.measure(order, self.visitor.delay(), queued.ends()) => result,
        }?;
        // A line that is down says nothing about the address either.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn order(id: i64) -> ProbeOrder {
        ProbeOrder {
            probe: ProbeId::new(id),
            address: [192, 0, 2, 1].into(),
            port: 80,
            host: "a.org".into(),
            methods: vec![],
            samples: 1,
        }
    }

    #[tokio::test]
    async fn an_order_without_room_is_not_taken_on() {
        let (orders, mut ordered) = mpsc::channel(1);
        let queue = ProbeQueue { accepted: Arc::default(), orders };
        let now = Instant::now();
        assert!(queue.offer(order(1), now));
        assert!(!queue.offer(order(1), now), "it is known");
        assert!(!queue.offer(order(2), now), "it has no room");
        assert_eq!(queue.accepted.list(), [ProbeId::new(1)]);
        ordered.recv().await.unwrap();
        assert!(queue.offer(order(2), now), "it comes again");
    }

    #[test]
    fn an_order_that_waited_for_long_is_stale() {
        let since = Instant::now();
        let queued = QueuedOrder { order: order(1), since };
        assert!(!queued.is_stale(since + LONGEST_WAIT));
        assert!(queued.is_stale(since + LONGEST_WAIT + Duration::from_millis(1)));
    }
}
