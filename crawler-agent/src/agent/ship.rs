//! Shipping: packs results, and sends packages until they are acknowledged.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use protocol::package::PackageName;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{AgentError, host_orders::HostOrders, readiness::ReadinessSignal};
use crate::{
    backoff::Backoff,
    coordinator_client::CoordinatorClient,
    error_line,
    metrics::Metrics,
    outbox::{Outbox, PackTrigger},
    status::PACKAGE_CONFLICT,
};

/// Task that packs results.
pub(super) async fn pack(
    outbox: Arc<Outbox>,
    trigger: Arc<PackTrigger>,
    sealed: Arc<Notify>,
    stop: CancellationToken,
) -> Result<(), AgentError> {
    Ok(outbox.pack_until(&stop, &trigger, &sealed).await?)
}

/// Task that sends packages.
pub(super) struct Shipper {
    pub(super) outbox: Arc<Outbox>,
    pub(super) client: Arc<CoordinatorClient>,
    pub(super) host_orders: Arc<HostOrders>,
    pub(super) readiness: ReadinessSignal,
    pub(super) metrics: Metrics,
    pub(super) pack_trigger: Arc<PackTrigger>,
    /// Age at which a package is closed.
    pub(super) age: Duration,
}

/// Longest time after the owner's hours for which uploads wait for results to be packed, twice.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

impl Shipper {
    /// Sends packages whenever one is sealed.
    pub(super) async fn run(self, sealed: Arc<Notify>) -> Result<(), AgentError> {
        loop {
            self.readiness.until_awake().await;
            tokio::select! {
                // Cut off, the upload goes on in the next span where it broke.
                () = self.span_is_over() => {}
                failed = self.send_whatever_is_sealed(&sealed) => return failed,
            }
        }
    }

    /// Returns when nothing may be sent any more: the span is over, and the results of its last
    /// fetches had the time to be sealed and to leave.
    async fn span_is_over(&self) {
        let mut readiness = self.readiness.subscribe();
        let mut is_over = false;
        while !is_over {
            // Errors mean that the agent is stopping.
            drop(readiness.wait_for(|readiness| readiness.asleep.is_some()).await);
            is_over = true;
            // The second time for the requests that ended after the span.
            for _ in 0..2 {
                self.pack_trigger.pack_now();
                let awake = readiness.wait_for(|readiness| readiness.asleep.is_none());
                let time = self.age.min(LONGEST_WAIT);
                is_over &= tokio::time::timeout(time, awake).await.is_err();
            }
        }
    }

    async fn send_whatever_is_sealed(&self, sealed: &Notify) -> Result<(), AgentError> {
        // The end of a span or of the process may have cut off an upload.
        let mut may_be_begun = true;
        loop {
            self.send_all(may_be_begun).await?;
            may_be_begun = false;
            sealed.notified().await;
        }
    }

    /// Sends every package, oldest first. The upload of the oldest one may have begun earlier.
    pub(super) async fn send_all(&self, mut may_be_begun: bool) -> Result<(), AgentError> {
        for name in self.outbox.waiting().await? {
            self.send(name, may_be_begun).await?;
            may_be_begun = false;
        }
        Ok(())
    }

    async fn send(&self, name: PackageName, mut may_be_begun: bool) -> Result<(), AgentError> {
        let Some(bytes) = self.outbox.bytes(name)? else {
            // The file of an acknowledged package is deleted at once, but the log says so only
            // after its next sync.
            tracing::warn!(
                package = name.seq,
                "a package has no file; it was shipped before a power failure, or deleted by hand"
            );
            return Ok(self.outbox.acknowledged(name)?);
        };
        let bytes = Bytes::from(bytes);
        let mut backoff = Backoff::default();
        loop {
            match self.client.send_package(name, &bytes, may_be_begun).await {
                Ok(()) => {
                    self.outbox.acknowledged(name)?;
                    self.metrics.sent(bytes.len());
                    // It may have held the last results of a released host.
                    if !self.host_orders.is_empty() {
                        self.host_orders.confirmable.notify_one();
                    }
                    return Ok(());
                }
                Err(error) if error.rejects_package() => {
                    let is_conflict = error.is_package_conflict();
                    let error = error_line::of(&error);
                    let package = name.seq;
                    tracing::error!(error, package, "a package was refused; see packages/refused");
                    if is_conflict && self.readiness.note_package_conflict() {
                        tracing::error!("{PACKAGE_CONFLICT}");
                    }
                    self.metrics.refused();
                    return Ok(self.outbox.set_aside(name)?);
                }
                // Everything else is retried. Where the agent is banned, the heartbeat ends it.
                Err(error) => {
                    self.metrics.send_failed();
                    may_be_begun = true;
                    // A coordinator that cannot store packages would take the bytes each time.
                    let asked = error.retry_after();
                    let pause = backoff.next(rand::random());
                    let error = error_line::of(&error);
                    tracing::warn!(error, package = name.seq, ?pause, "a package was not sent");
                    self.readiness.pause(pause, asked).await;
                }
            }
        }
    }
}
