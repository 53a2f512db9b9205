//! The heartbeat: ask the coordinator, again and again, what there is to do.

use std::{sync::Arc, time::Duration};

use protocol::{
    AgentState, HeartbeatRequest, HeartbeatResponse, Presence, ProbeOrder, UnixMillis, WorkStatus,
    limits::HEARTBEAT_HOLD_MS, version,
};
use tokio::{sync::mpsc, time::Instant};

use super::{AgentError, Shared, conditions::Idle};
use crate::{
    clock,
    frontier::{Change, Frontier},
    link::{Backoff, LinkError},
    sentence,
};

/// Least time between two heartbeats that bring nothing new.
const LEAST_PAUSE: Duration = Duration::from_secs(1);
/// Longest heartbeat that only says that the agent goes to sleep.
const FAREWELL: Duration = Duration::from_secs(10);

pub(super) async fn run(
    shared: Arc<Shared>,
    orders: mpsc::Sender<ProbeOrder>,
    tell: impl Fn(&str) + Send + Sync + 'static,
) -> Result<(), AgentError> {
    let beating = Beating { shared: Arc::clone(&shared), orders, tell };
    shared.stop.run_until_cancelled(beating.for_ever()).await.unwrap_or(Ok(()))
}

struct Beating<T> {
    shared: Arc<Shared>,
    orders: mpsc::Sender<ProbeOrder>,
    tell: T,
}

impl<T: Fn(&str) + Send + Sync> Beating<T> {
    async fn for_ever(self) -> Result<(), AgentError> {
        let mut conditions = self.shared.conditions.subscribe();
        let mut backoff = Backoff::default();
        loop {
            let asleep = conditions.borrow_and_update().asleep;
            if let Some(until) = asleep {
                self.say_good_night(until).await?;
                // Nothing is sent until the span starts.
                while conditions.borrow_and_update().asleep.is_some() {
                    if conditions.changed().await.is_err() {
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
                () = fell_asleep(&mut conditions) => continue,
                // The coordinator waits for this.
                confirm = self.has_more_to_confirm(&request) => { confirm?; continue }
            };
            match answer {
                Ok(answer) => {
                    backoff.reset();
                    self.shared.orders_heard(&request.orders_done, &answer.host_orders).await?;
                    let lease_ms = answer.lease_ms;
                    let news = self.take(answer).await?;
                    // Hosts that went to others meanwhile are left alone by now.
                    self.shared.lease.renew(started, started_at, lease_ms);
                    self.shared.change(|conditions| conditions.lapsed = !self.shared.lease.holds());
                    if !news {
                        tokio::time::sleep_until(started + LEAST_PAUSE).await;
                    }
                }
                Err(error) => self.endure(error, &mut backoff).await?,
            }
        }
    }

    async fn say_good_night(&self, until: Option<UnixMillis>) -> Result<(), AgentError> {
        let mut request = self.request(0).await?;
        let until = until.unwrap_or(UnixMillis(i64::MAX));
        request.status.presence = Presence::Asleep { until };
        // Without it the coordinator finds out by itself.
        drop(tokio::time::timeout(FAREWELL, self.shared.coordinator.heartbeat(&request)).await);
        Ok(())
    }

    async fn request(&self, hold_ms: u32) -> Result<HeartbeatRequest, AgentError> {
        let counts = self.shared.desk.read(Frontier::counts).await?;
        let conditions = self.shared.conditions.borrow().clone();
        let idle = conditions
            .obstacle()
            .or((!self.shared.schedule.has_work()).then_some(Idle::NothingToDo));
        Ok(HeartbeatRequest {
            protocol: version::CURRENT,
            agent_time: clock::now(),
            hold_ms,
            routes_after: counts.routes_after,
            state: conditions.state.unwrap_or(AgentState::Pending),
            probes_taken: self.shared.taken.list(),
            orders_done: self.shared.desk.read(Frontier::orders_done).await?,
            orders_taken: self.shared.orders.taken(),
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
            self.shared.orders.done.notified().await;
            let done = self.shared.desk.read(Frontier::orders_done).await?;
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
        self.shared.take_up(answer.host_orders).await?;
        for order in answer.probes {
            if self.shared.taken.add(order.probe) {
                // Fails only when everything is ending.
                drop(self.orders.send(order).await);
            }
        }
        Ok(news)
    }

    fn new_state(&self, state: AgentState) -> Result<bool, AgentError> {
        let known = self.shared.conditions.borrow().state;
        self.shared.change(|conditions| {
            conditions.state = Some(state);
            conditions.unreachable = None;
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
        let effect = self.shared.desk.make(Change::Routes { routes, at, bounds }).await?;
        for (host, due) in effect.ready {
            self.shared.schedule.offer(host, due, at, Duration::ZERO);
        }
        if effect.results {
            self.shared.pressure.add(0);
        }
        Ok(())
    }

    async fn endure(&self, error: LinkError, backoff: &mut Backoff) -> Result<(), AgentError> {
        if error.is_banned() {
            return Err(AgentError::Banned(error));
        }
        let pause = backoff.next(rand::random());
        tracing::warn!(error = sentence::of(&error), ?pause, "no answer to the heartbeat");
        self.shared.change(|conditions| conditions.unreachable = Some(sentence::of(&error)));
        tokio::time::sleep(pause).await;
        Ok(())
    }
}

async fn fell_asleep(conditions: &mut tokio::sync::watch::Receiver<super::Conditions>) {
    // An error means that everything is ending.
    drop(conditions.wait_for(|conditions| conditions.asleep.is_some()).await);
}
