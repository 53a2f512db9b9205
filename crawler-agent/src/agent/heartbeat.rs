//! The heartbeat: a long poll that asks the coordinator for work and passes the answer on.

use std::{
    mem,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use model::{AgentState, CrawlPolicy, UnixMillis};
use protocol::{
    HeartbeatRequest, HeartbeatResponse, Presence, WorkStatus, enrol::AgentProfile,
    host_status::UrlStatus, limits, limits::HEARTBEAT_HOLD_MS, version,
};
use tokio::{sync::watch, time::Instant};

use super::{
    AgentError, filler,
    host_orders::HostOrders,
    inspector::Inspector,
    probes::ProbeQueue,
    readiness::{Readiness, ReadinessSignal, Sleep, idle_reason},
    routes::new_routes,
    takeovers::Takeovers,
};
use crate::{
    backoff::Backoff,
    clock,
    coordinator_client::{CoordinatorClient, CoordinatorError},
    error_line,
    frontier::Change,
    lock::lock,
    visit::Visitor,
};

/// Least time between two heartbeats when the first brought nothing new.
const LEAST_PAUSE: Duration = Duration::from_secs(1);
/// Least time between any two heartbeats, regardless of the coordinator's answer.
const LEAST_INTERVAL: Duration = Duration::from_millis(100);
/// Time limit of a heartbeat that announces sleep.
const SLEEP_ANNOUNCEMENT: Duration = Duration::from_secs(10);
/// Time in which the announcement is repeated while the coordinator does not take it. Nothing is
/// sent after that until the owner's hours begin.
const ANNOUNCING: Duration = Duration::from_mins(2);

/// Task that sends heartbeats.
pub(super) struct HeartbeatTask<P> {
    pub(super) client: Arc<CoordinatorClient>,
    pub(super) visitor: Arc<Visitor>,
    pub(super) probe_queue: ProbeQueue,
    pub(super) host_orders: Arc<HostOrders>,
    pub(super) takeovers: Arc<Takeovers>,
    pub(super) policy: watch::Sender<CrawlPolicy>,
    /// What the owner's configuration says of the agent.
    pub(super) profile: AgentProfile,
    /// Whether the coordinator has had this profile.
    pub(super) profile_is_known: AtomicBool,
    pub(super) readiness: ReadinessSignal,
    /// Answers the coordinator's questions about URLs.
    pub(super) inspector: Inspector,
    /// Answers for the next request.
    pub(super) url_statuses: Mutex<Vec<UrlStatus>>,
    /// Shows the owner a new state of the agent.
    pub(super) print: P,
}

impl<P: Fn(&str) + Send + Sync> HeartbeatTask<P> {
    pub(super) async fn run(self) -> Result<(), AgentError> {
        let mut readiness = self.readiness.subscribe();
        let mut backoff = Backoff::default();
        let mut earliest = Instant::now();
        loop {
            tokio::time::sleep_until(earliest).await;
            let asleep = readiness.borrow_and_update().asleep;
            if let Some(sleep) = asleep {
                self.announce_sleep(sleep).await?;
                // Nothing is sent until the next span starts.
                if readiness.wait_for(|readiness| readiness.asleep.is_none()).await.is_err() {
                    return Ok(());
                }
            }
            let started = Instant::now();
            earliest = started + LEAST_INTERVAL;
            let started_at = clock::now();
            let request = self.request(HEARTBEAT_HOLD_MS).await?;
            let response = tokio::select! {
                response = self.client.heartbeat(&request) => response,
                // Cancelled when the span ends, because the answer would come too late. Also
                // cancelled when the agent starts or stops to carry out probes, because the
                // coordinator must learn of that at once.
                () = turned(&mut readiness, request.takes_probes) => continue,
                // The next agent of a released host waits for the confirmation, so that it must
                // not wait for the end of the long poll.
                confirm = self.has_more_to_confirm(&request) => { confirm?; continue }
            };
            match response {
                Ok(response) => {
                    backoff.reset();
                    self.profile_is_known.store(true, Ordering::Relaxed);
                    let confirmed = &request.orders_done;
                    self.host_orders.forget_confirmed(confirmed, &response.host_orders)?;
                    self.compare_clocks(started_at, response.coordinator_time);
                    self.visitor.coordinator_answered(self.client.peer());
                    let lease_ms = response.lease_ms;
                    let news = self.apply(response, request.routes_after).await?;
                    // Renewed last: hosts that were released meanwhile are retired by now. The
                    // lease counts from the request, because the answer may have been delayed.
                    self.visitor.lease.renew(started, started_at, lease_ms);
                    let lease_expired = !self.visitor.may_fetch();
                    self.readiness.change(|readiness| readiness.lease_expired = lease_expired);
                    if !news {
                        earliest = started + LEAST_PAUSE;
                    }
                }
                Err(error) => self.wait_after(error, &mut backoff).await?,
            }
        }
    }

    /// Tells the coordinator that the agent sleeps: one that is silent otherwise counts as
    /// unreachable. Returns when the coordinator knows, when it is too late, or when the owner's
    /// hours begin.
    async fn announce_sleep(&self, sleep: Sleep) -> Result<(), AgentError> {
        let mut readiness = self.readiness.subscribe();
        let mut backoff = Backoff::default();
        let end = Instant::now() + ANNOUNCING;
        while !self.send_announcement(sleep).await? {
            let next = Instant::now() + backoff.next(rand::random());
            let waking = readiness.wait_for(|readiness| readiness.asleep.is_none());
            if next > end || tokio::time::timeout_at(next, waking).await.is_ok() {
                break;
            }
        }
        Ok(())
    }

    /// Announces the sleep once; returns whether the coordinator took it, or refused it for good.
    async fn send_announcement(&self, sleep: Sleep) -> Result<bool, AgentError> {
        let mut request = self.request(0).await?;
        let until = sleep.until.unwrap_or(UnixMillis(i64::MAX));
        request.status.presence = Presence::Asleep { until };
        let sending = self.client.heartbeat(&request);
        match tokio::time::timeout(SLEEP_ANNOUNCEMENT, sending).await {
            Ok(Ok(response)) => {
                self.profile_is_known.store(true, Ordering::Relaxed);
                // Work in the answer is sent again later; a revocation must not wait for the
                // morning.
                self.apply_state(response.state)?;
                Ok(true)
            }
            Ok(Err(error)) => Ok(!error.is_temporary()),
            Err(_) => Ok(false),
        }
    }

    async fn request(&self, hold_ms: u32) -> Result<HeartbeatRequest, AgentError> {
        let counts = self.visitor.store.counts()?;
        let mut orders_done = self.host_orders.done().await?;
        // The coordinator does not confirm more, and the next request has the others.
        orders_done.truncate(limits::HOST_ORDERS_PER_HEARTBEAT);
        let bundles_taken = self.takeovers.taken();
        // The coordinator relies on what the request calls stored and executed.
        self.visitor.store.sync().await?;
        let readiness = self.readiness.current();
        let idle = idle_reason(&readiness, &self.visitor);
        Ok(HeartbeatRequest {
            protocol: version::CURRENT,
            agent_time: clock::now(),
            hold_ms,
            routes_after: counts.routes_after,
            state: readiness.state.unwrap_or(AgentState::Pending),
            probes_accepted: self.probe_queue.accepted.list(),
            orders_done,
            orders_accepted: self.host_orders.list(),
            bundles_taken,
            policy: Some(*self.policy.borrow()),
            // Sent once: if the request is lost, the person asks again.
            url_statuses: mem::take(&mut *lock(&self.url_statuses)),
            takes_probes: readiness.takes_probes(),
            wants_region: self.visitor.peers.is_some(),
            place: self.profile.place.clone(),
            profile: (!self.profile_is_known.load(Ordering::Relaxed)).then(|| self.profile.clone()),
            status: WorkStatus {
                presence: Presence::Awake,
                queued: counts.queued,
                idle_reason: idle.map(|idle| idle.to_string()),
            },
        })
    }

    /// Returns when an order can be confirmed that `request` does not confirm.
    async fn has_more_to_confirm(&self, request: &HeartbeatRequest) -> Result<(), AgentError> {
        loop {
            self.host_orders.confirmable.notified().await;
            let done = self.host_orders.done().await?;
            if done.iter().any(|number| !request.orders_done.contains(number)) {
                return Ok(());
            }
        }
    }

    /// Applies an answer to a heartbeat that confirmed routes up to `routes_after`; returns whether
    /// it brought anything new.
    async fn apply(
        &self,
        response: HeartbeatResponse,
        routes_after: u64,
    ) -> Result<bool, AgentError> {
        let mut news = self.apply_state(response.state)?;
        self.apply_policy(response.policy).await?;
        self.visitor.lost_before.set(response.contents_lost_before);
        // Bundles come before the routes, so that a page that the former agent knew is not fetched
        // as a new one.
        news |= self.takeovers.take(response.bundles).await;
        let routes = new_routes(response.routes, routes_after);
        if !routes.is_empty() {
            news = true;
            self.store_routes(routes).await?;
        }
        if !response.questions.is_empty() {
            news = true;
            let answers = self.inspector.urls(&response.questions).await?;
            *lock(&self.url_statuses) = answers;
        }
        // Host orders come after the routes, so that URLs of a host that is released are handed
        // back as well.
        self.host_orders.accept(response.host_orders).await?;
        // If this changed meanwhile, the orders would be dropped. If they counted as news, the
        // agent would ask for them again at once.
        let takes_probes = self.readiness.current().takes_probes();
        for order in response.probes {
            news |= takes_probes && self.probe_queue.offer(order, Instant::now());
        }
        Ok(news)
    }

    /// Compared before the lease is renewed, so that nothing is fetched while the clock is wrong.
    fn compare_clocks(&self, sent: UnixMillis, theirs: UnixMillis) {
        let received = clock::now();
        let ahead_ms = clock::ahead_ms(sent, received, theirs);
        self.readiness.change(|readiness| readiness.compare_clocks(ahead_ms));
        // The earlier of both clocks counts, so that neither a clock that is ahead nor the
        // coordinator can empty the log.
        self.visitor.activity_log.delete_old(received.min(theirs));
    }

    /// Applies the agent's state; returns whether it is another than before.
    fn apply_state(&self, state: AgentState) -> Result<bool, AgentError> {
        self.readiness.note_answer(clock::now());
        let changed = self.readiness.current().state != Some(state);
        self.readiness.change(|readiness| {
            readiness.state = Some(state);
            readiness.unreachable = None;
        });
        if changed {
            (self.print)(state.as_str());
            tracing::info!(state = state.as_str(), "the coordinator has answered");
        }
        if state == AgentState::Revoked { Err(AgentError::Revoked) } else { Ok(changed) }
    }

    async fn apply_policy(&self, policy: CrawlPolicy) -> Result<(), AgentError> {
        let revisit_before = self.visitor.revisit_period();
        let changed = self.policy.send_if_modified(|current| {
            let changed = *current != policy;
            *current = policy;
            changed
        });
        if changed && let Some(peers) = &self.visitor.peers {
            peers.keep_policy(policy);
        }
        // Hosts that were idle under the old period may have pages to revisit now.
        if self.visitor.revisit_period() != revisit_before {
            let rules = filler::rules(&self.visitor);
            self.visitor.schedule.offer_anew(&self.visitor.store, rules).await?;
        }
        Ok(())
    }

    async fn store_routes(&self, mut routes: Vec<protocol::Route>) -> Result<(), AgentError> {
        let through = routes.last().map_or(0, |route| route.seq);
        if let Some(peers) = &self.visitor.peers {
            routes = peers.share_routes(routes).await?;
        }
        let at = clock::now();
        let bounds = self.visitor.bounds();
        let effect = self.visitor.store.apply(Change::Routes { routes, at, bounds })?;
        for (host, due) in effect.ready {
            // A request may have been running to it when the agent was killed.
            self.visitor.schedule.offer(host, due, at, self.visitor.delay());
        }
        if effect.results {
            self.visitor.pack_trigger.add(0);
        }
        if self.visitor.peers.is_some() {
            // Routes to hosts of other agents were not stored here, so their numbers are noted
            // separately.
            self.visitor.store.apply(Change::RoutesStored { through })?;
        }
        Ok(())
    }

    /// Waits before the next attempt, or ends the agent where none can succeed.
    async fn wait_after(
        &self,
        error: CoordinatorError,
        backoff: &mut Backoff,
    ) -> Result<(), AgentError> {
        if error.is_banned() {
            return Err(AgentError::Banned(error));
        }
        if matches!(error, CoordinatorError::Unreachable(_)) {
            self.visitor.coordinator_missed(self.client.peer());
        }
        let pause = backoff.next(rand::random());
        let error = error_line::of(&error);
        tracing::warn!(error, ?pause, "no answer to the heartbeat");
        self.readiness.change(|readiness| readiness.unreachable = Some(error));
        tokio::time::sleep(pause).await;
        Ok(())
    }
}

/// Returns when the agent falls asleep, or `takes_probes` does not hold any more.
async fn turned(readiness: &mut watch::Receiver<Readiness>, takes_probes: bool) {
    let turns = |readiness: &Readiness| {
        readiness.asleep.is_some() || readiness.takes_probes() != takes_probes
    };
    // An error means that the agent is stopping.
    drop(readiness.wait_for(turns).await);
}
