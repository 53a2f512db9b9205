//! Leaving: the owner ends the agent for good. It starts nothing new, hands its hosts over, ships
//! what it has, and is deregistered.

use std::{sync::Arc, time::Duration};

use model::AgentState;
use tokio_util::sync::CancellationToken;

use super::{
    AgentError,
    readiness::{Phase, ReadinessSignal},
};
use crate::{
    backoff::Backoff,
    coordinator_client::{CoordinatorClient, CoordinatorError},
    error_line,
    frontier::FrontierHandle,
    outbox::PackTrigger,
    peers::Peers,
    schedule::Schedule,
};

/// Longest time for the handover: the coordinator gives away later what is not handed over by then.
const LONGEST: Duration = Duration::from_mins(10);
/// Longest time for the last call.
const LAST_CALL: Duration = Duration::from_mins(1);
/// Period in which the coordinator is asked which hosts are left.
const PERIOD: Duration = Duration::from_millis(500);

/// What leaving waits for.
pub(super) struct LeaveProgress {
    pub(super) client: Arc<CoordinatorClient>,
    pub(super) schedule: Arc<Schedule>,
    pub(super) store: FrontierHandle,
    pub(super) pack_trigger: Arc<PackTrigger>,
    pub(super) readiness: ReadinessSignal,
    pub(super) peers: Option<Arc<Peers>>,
}

impl LeaveProgress {
    /// Waits for `leave`, then until the coordinator has deregistered the agent.
    pub(super) async fn run(self, leave: CancellationToken) -> Result<(), AgentError> {
        leave.cancelled().await;
        // The owner's command takes precedence over the owner's hours.
        self.readiness.change(|readiness| {
            readiness.phase = Phase::Leaving;
            readiness.asleep = None;
        });
        self.pack_trigger.pack_now();
        if let Ok(done) = tokio::time::timeout(LONGEST, self.hand_over()).await {
            done?;
        } else {
            tracing::warn!("not every host was handed over; the coordinator searches on");
        }
        self.deregister().await
    }

    /// Returns when the agent has no hosts and nothing to ship, or is not known any more.
    async fn hand_over(&self) -> Result<(), AgentError> {
        let mut backoff = Backoff::default();
        loop {
            let pause = match self.client.leave(false).await {
                Ok(answer) if answer.state == AgentState::Revoked => return Ok(()),
                Ok(answer) if answer.hosts_left == 0 && self.is_all_sent()? => return Ok(()),
                Ok(_) => {
                    backoff.reset();
                    PERIOD
                }
                Err(error) if error.is_gone() => return Ok(()),
                Err(error) if error.is_temporary() => wait_after(&error, &mut backoff),
                Err(error) => return Err(AgentError::NotDeregistered(error)),
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Whether no request runs, the coordinator has every result, and the region the hosts that the
    /// coordinator does not know. Bundles of the coordinator's orders need no check, because an
    /// order is confirmed only after its bundle was sent.
    fn is_all_sent(&self) -> Result<bool, AgentError> {
        // Checked in this order, because a request that ends leaves a result.
        let is_busy = self.schedule.is_busy();
        let counts = self.store.counts()?;
        let is_returning = self.peers.as_ref().is_some_and(|peers| peers.has_hosts_to_return());
        Ok(!is_busy && !is_returning && counts.results == 0 && counts.packages == 0)
    }

    async fn deregister(&self) -> Result<(), AgentError> {
        let calling = async {
            let mut backoff = Backoff::default();
            loop {
                match self.client.leave(true).await {
                    Ok(_) => return Ok(()),
                    Err(error) if error.is_gone() => return Ok(()),
                    Err(error) if error.is_temporary() => {
                        tokio::time::sleep(wait_after(&error, &mut backoff)).await;
                    }
                    Err(error) => return Err(AgentError::NotDeregistered(error)),
                }
            }
        };
        let called = tokio::time::timeout(LAST_CALL, calling).await;
        called.unwrap_or(Err(AgentError::StillRegistered))
    }
}

fn wait_after(error: &CoordinatorError, backoff: &mut Backoff) -> Duration {
    let pause = backoff.next(rand::random());
    tracing::warn!(error = error_line::of(error), ?pause, "the coordinator cannot be told");
    pause
}
