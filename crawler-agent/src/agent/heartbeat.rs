//! The heartbeat: ask the coordinator, again and again, what there is to do.

use std::{sync::Arc, time::Duration};

use model::{AgentState, UnixMillis};
use protocol::{
    HeartbeatRequest, HeartbeatResponse, Presence, ProbeOrder, WorkStatus,
    limits::HEARTBEAT_HOLD_MS, version,
};
use tokio::{sync::mpsc, time::Instant};

use super::{AgentError, Shared, readiness::IdleReason};
use crate::{
    backoff::Backoff,
    clock,
    coordinator_client::CoordinatorError,
    error_line,
    frontier::{Change, Frontier},
};

/// Least time between two heartbeats that bring nothing new.
const LEAST_PAUSE: Duration = Duration::from_secs(1);
/// Longest heartbeat that only says that the agent goes to sleep.
const SLEEP_ANNOUNCEMENT: Duration = Duration::from_secs(10);

pub(super) async fn run(
    shared: Arc<Shared>,
    orders: mpsc::Sender<ProbeOrder>,
    tell: impl Fn(&str) + Send + Sync + 'static,
) -> Result<(), AgentError> {
    let beating = HeartbeatTask { shared: Arc::clone(&shared), orders, tell };
    shared.stop.run_until_cancelled(beating.run_forever()).await.unwrap_or(Ok(()))
}

struct HeartbeatTask<T> {
    shared: Arc<Shared>,
    orders: mpsc::Sender<ProbeOrder>,
    tell: T,
}

impl<T: Fn(&str) + Send + Sync> HeartbeatTask<T> {
    async fn run_forever(self) -> Result<(), AgentError> {
        let mut readiness = self.shared.readiness.subscribe();
        let mut backoff = Backoff::default();
        loop {
            let asleep = readiness.borrow_and_update().asleep;
            if let Some(until) = asleep {
                self.announce_sleep(until).await?;
                // Nothing is sent until the span starts.
                while readiness.borrow_and_update().asleep.is_some() {
                    if readiness.changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
            let (started, started_at) = (Instant::now(), clock::now());
            let request = self.request(HEARTBEAT_HOLD_MS).await?;
            let heartbeat = self.shared.coordinator.heartbeat(&request);
            let answer = tokio::select! {
                answer = heartbeat => answer,
                // The answer would come too late.
                () = fell_asleep(&mut readiness) => continue,
                // The coordinator waits for this.
                confirm = self.has_more_to_confirm(&request) => { confirm?; continue }
            };
            match answer {
                Ok(answer) => {
                    backoff.reset();
                    self.shared.settle_confirmed(&request.orders_done, &answer.host_orders).await?;
                    let lease_ms = answer.lease_ms;
                    let news = self.take(answer).await?;
                    // Hosts that went to others meanwhile are left alone by now.
                    self.shared.lease.renew(started, started_at, lease_ms);
                    self.shared
                        .change(|readiness| readiness.lease_expired = !self.shared.lease.holds());
                    if !news {
                        tokio::time::sleep_until(started + LEAST_PAUSE).await;
                    }
                }
                Err(error) => self.retry_later(error, &mut backoff).await?,
            }
        }
    }

    async fn announce_sleep(&self, until: Option<UnixMillis>) -> Result<(), AgentError> {
        let mut request = self.request(0).await?;
        let until = until.unwrap_or(UnixMillis(i64::MAX));
        request.status.presence = Presence::Asleep { until };
        // Without it the coordinator finds out by itself.
        drop(
            tokio::time::timeout(SLEEP_ANNOUNCEMENT, self.shared.coordinator.heartbeat(&request))
                .await,
        );
        Ok(())
    }

    async fn request(&self, hold_ms: u32) -> Result<HeartbeatRequest, AgentError> {
        let counts = self.shared.store.read(Frontier::counts).await?;
        let readiness = self.shared.readiness.borrow().clone();
        let idle = readiness
            .idle_reason()
            .or((!self.shared.schedule.has_work()).then_some(IdleReason::NothingToDo));
        Ok(HeartbeatRequest {
            protocol: version::CURRENT,
            agent_time: clock::now(),
            hold_ms,
            routes_after: counts.routes_after,
            state: readiness.state.unwrap_or(AgentState::Pending),
            probes_taken: self.shared.taken.list(),
            orders_done: self.shared.store.read(Frontier::orders_done).await?,
            orders_taken: self.shared.host_orders.taken(),
            policy: Some(*self.shared.policy.borrow()),
            status: WorkStatus {
                presence: Presence::Awake,
                hosts: counts.hosts,
                queued: counts.queued,
                in_flight: u32::try_from(self.shared.schedule.in_flight()).unwrap_or(u32::MAX),
                fetched: counts.fetched,
                wire_bytes: counts.wire_bytes,
                unshipped: counts.packages + counts.results,
                idle_reason: idle.map(|idle| idle.to_string()),
            },
        })
    }

    /// Returns when there is an order to confirm that `request` does not confirm.
    async fn has_more_to_confirm(&self, request: &HeartbeatRequest) -> Result<(), AgentError> {
        loop {
            self.shared.host_orders.done.notified().await;
            let done = self.shared.store.read(Frontier::orders_done).await?;
            if done.iter().any(|number| !request.orders_done.contains(number)) {
                return Ok(());
            }
        }
    }

    /// Does what the answer says; tells whether there was anything.
    async fn take(&self, answer: HeartbeatResponse) -> Result<bool, AgentError> {
        let changed = self.new_state(answer.state)?;
        let revisit = self.shared.visitor.revisit();
        self.shared.policy.send_if_modified(|policy| {
            let new = *policy != answer.policy;
            *policy = answer.policy;
            new
        });
        if self.shared.visitor.revisit() != revisit {
            super::crawl::offer_revisits(&self.shared, Duration::ZERO).await?;
        }
        let news = changed || !answer.routes.is_empty() || !answer.probes.is_empty();
        if !answer.routes.is_empty() {
            self.store(answer.routes).await?;
        }
        // After the routes: what came for a host is handed back with the rest.
        self.shared.accept_orders(answer.host_orders).await?;
        for order in answer.probes {
            if self.shared.taken.add(order.probe) {
                // Fails only when everything is ending.
                drop(self.orders.send(order).await);
            }
        }
        Ok(news)
    }

    fn new_state(&self, state: AgentState) -> Result<bool, AgentError> {
        let known = self.shared.readiness.borrow().state;
        self.shared.change(|readiness| {
            readiness.state = Some(state);
            readiness.unreachable = None;
        });
        if known != Some(state) {
            (self.tell)(state.as_str());
            tracing::info!(state = state.as_str(), "the coordinator has answered");
        }
        if state == AgentState::Revoked {
            Err(AgentError::Revoked)
        } else {
            Ok(known != Some(state))
        }
    }

    async fn store(&self, routes: Vec<protocol::Route>) -> Result<(), AgentError> {
        let (at, bounds) = (clock::now(), self.shared.visitor.bounds());
        let effect = self.shared.store.apply(Change::Routes { routes, at, bounds }).await?;
        for (host, due) in effect.ready {
            self.shared.schedule.offer(host, due, at, Duration::ZERO);
        }
        if effect.results {
            self.shared.pack_trigger.add(0);
        }
        Ok(())
    }

    async fn retry_later(
        &self,
        error: CoordinatorError,
        backoff: &mut Backoff,
    ) -> Result<(), AgentError> {
        if error.is_banned() {
            return Err(AgentError::Banned(error));
        }
        let pause = backoff.next(rand::random());
        tracing::warn!(error = error_line::of(&error), ?pause, "no answer to the heartbeat");
        self.shared.change(|readiness| readiness.unreachable = Some(error_line::of(&error)));
        tokio::time::sleep(pause).await;
        Ok(())
    }
}

async fn fell_asleep(readiness: &mut tokio::sync::watch::Receiver<super::Readiness>) {
    // An error means that everything is ending.
    drop(readiness.wait_for(|readiness| readiness.asleep.is_some()).await);
}
