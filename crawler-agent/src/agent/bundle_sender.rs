//! Sends the bundles of released hosts to the coordinator, which keeps them for the next agents.

use std::sync::Arc;

use super::{AgentError, host_orders::HostOrders, readiness::ReadinessSignal};
use crate::{backoff::Backoff, coordinator_client::CoordinatorClient, error_line, outbox::Bundles};

/// Task that sends bundles.
pub(super) struct BundleSender {
    pub(super) bundles: Arc<Bundles>,
    pub(super) client: Arc<CoordinatorClient>,
    pub(super) host_orders: Arc<HostOrders>,
    pub(super) readiness: ReadinessSignal,
}

impl BundleSender {
    /// Sends one bundle after the other.
    pub(super) async fn run(self) -> Result<(), AgentError> {
        loop {
            let order = self.bundles.next().await;
            self.send(order).await?;
            // The order may have waited for the bundle alone.
            self.host_orders.confirmable.notify_one();
        }
    }

    async fn send(&self, order: u64) -> Result<(), AgentError> {
        let Some(bytes) = self.bundles.bytes(order)? else {
            tracing::warn!(order, "the bundle of a released host has no file any more");
            return Ok(self.bundles.sent(order)?);
        };
        let mut backoff = Backoff::default();
        loop {
            self.readiness.until_awake().await;
            let sending = self.client.send_bundle(order, &bytes);
            // Cut off by the end of the owner's hours, it is sent again in the next ones.
            let Some(sent) = self.readiness.while_awake(sending).await else { continue };
            match sent {
                Ok(()) => return Ok(self.bundles.sent(order)?),
                Err(error) if error.is_refusal() && !error.is_banned() => {
                    let error = error_line::of(&error);
                    tracing::error!(error, order, "a bundle was refused; see bundles/refused");
                    return Ok(self.bundles.set_aside(order)?);
                }
                // Everything else is retried. Where the agent is banned, the heartbeat ends it.
                Err(error) => {
                    let asked = error.retry_after();
                    let pause = backoff.next(rand::random());
                    let error = error_line::of(&error);
                    tracing::warn!(error, order, ?pause, "a bundle was not sent");
                    self.readiness.pause(pause, asked).await;
                }
            }
        }
    }
}
