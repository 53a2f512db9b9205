//! One walk over searches: thinks the next step of each out, and carries it out.
//!
//! Thinking is `delegation::next_step`, on the trail as Postgres has it. Orders are collected and sent
//! together; decisions are carried out one by one, each in its transaction, so that the next search of the walk
//! sees them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use delegation::{
    Asked, Availability, Candidate, Holding, Phase, Reason, Roster, Search, Step, Verdict, next_step,
};
use hierarchy::SubnetId;
use protocol::AgentId;
use store::StoreError;
use store::agents::{self, Worker};
use store::delegations::{self, Decided, Decision};
use store::probes::{self, NewProbe};
use store::searches::{self, OpenSearch};

use crate::atlas::Atlas;
use crate::events::Change;
use crate::reconcile::pause_ms;
use crate::state::Coordinator;

/// A walk over open searches.
pub struct Walk<'a> {
    coordinator: &'a Coordinator,
    atlas: Arc<Atlas>,
    roster: Roster,
    orders: HashMap<AgentId, u32>,
    unsent: Vec<NewProbe<'static>>,
    asked: usize,
    decided: usize,
    ended: usize,
}

impl<'a> Walk<'a> {
    /// Sees who can be asked.
    pub async fn begin(coordinator: &'a Coordinator, atlas: Arc<Atlas>) -> Result<Self, StoreError> {
        let workers = agents::workers(&coordinator.store).await?;
        let roster = workers.iter().map(|worker| (worker.agent, availability(coordinator, worker))).collect();
        let orders = workers.iter().map(|worker| (worker.agent, worker.orders)).collect();
        Ok(Self { coordinator, atlas, roster, orders, unsent: Vec::new(), asked: 0, decided: 0, ended: 0 })
    }

    /// The next step of one search.
    pub async fn step(&mut self, search: &OpenSearch) -> Result<(), StoreError> {
        let Some(subnet) = self.atlas.hierarchy().find(&search.subnet) else {
            self.ended += 1;
            return searches::abandon(&self.coordinator.store, search.id, self.coordinator.now()).await;
        };
        match self.think(search, subnet) {
            Step::Ask(candidate) => self.ask(search, candidate),
            Step::Decide { agent, rtt_us, reason, provisional } => {
                let verdict = Choice { agent, rtt_us, reason, provisional };
                self.decide(search, verdict).await?;
            }
            Step::Silent => self.give_up(search).await?,
            Step::Wait | Step::NoAgents => {}
        }
        Ok(())
    }

    fn think(&self, search: &OpenSearch, subnet: SubnetId) -> Step {
        let trail: Vec<Asked> = search.trail.iter().filter_map(read).collect();
        let ruled = self.coordinator.policy.load();
        let policy = delegation::Policy {
            threshold_us: search.threshold_us,
            patience_ms: ruled.patience_ms.into(),
            ..delegation::Policy::default()
        };
        let waited_ms = self.coordinator.now().0.saturating_sub(search.opened_at.0).max(0).unsigned_abs();
        let search = Search { subnet, trail: &trail, provisional: search.provisional, waited_ms };
        next_step(self.atlas.hierarchy(), &self.atlas.book(), &self.roster, &policy, &search)
    }

    fn ask(&mut self, search: &OpenSearch, candidate: Candidate) {
        let step = search.trail.last().map_or(0, |asked| asked.step).saturating_add(1);
        self.unsent.push(NewProbe {
            search: search.id,
            step,
            agent: candidate.agent,
            phase: candidate.phase.as_str(),
            level: self.atlas.hierarchy().subnet(candidate.level).range(),
        });
        let orders = self.orders.entry(candidate.agent).or_default();
        *orders += 1;
        if *orders >= self.coordinator.config.limits.orders_per_agent {
            self.roster.set(candidate.agent, Availability::Busy);
        }
    }

    /// Sends the orders collected so far.
    pub async fn send(&mut self) -> Result<(), StoreError> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        let orders = std::mem::take(&mut self.unsent);
        probes::ask(&self.coordinator.store, &orders, self.coordinator.now()).await?;
        self.asked += orders.len();
        let asked: HashSet<AgentId> = orders.iter().map(|order| order.agent).collect();
        self.coordinator.wakes.ring(asked);
        Ok(())
    }

    async fn decide(&mut self, search: &OpenSearch, choice: Choice) -> Result<(), StoreError> {
        let coordinator = self.coordinator;
        let _writing = coordinator.atlases.writing().await;
        let decision = Decision {
            search: search.id,
            subnet: search.subnet,
            agent: choice.agent,
            generation: search.generation,
            reason: choice.reason.as_str(),
            provisional: choice.provisional,
            rtt_us: Some(choice.rtt_us),
        };
        match delegations::decide(&coordinator.store, &decision, coordinator.now()).await? {
            Decided::Made(_) => {
                self.decided += 1;
                enter(coordinator, search, choice);
            }
            Decided::Outdated => {
                tracing::info!(search = %search.id, "a decision came too late and was dropped");
            }
            Decided::AgentGone => self.roster.remove(choice.agent),
        }
        Ok(())
    }

    async fn give_up(&mut self, search: &OpenSearch) -> Result<(), StoreError> {
        let now = self.coordinator.now();
        let reason = format!("no agent got an answer from {}", search.target);
        let attempts = self.coordinator.config.limits.search_attempts;
        let retry_at = now.plus_ms(pause_ms(search.attempts.saturating_add(4)));
        self.ended += 1;
        searches::silent(&self.coordinator.store, search.id, &reason, retry_at, attempts, now).await
    }

    /// What was done, for the status; tells whoever waits for it.
    pub fn end(self) -> Option<String> {
        let Self { coordinator, asked, decided, ended, .. } = self;
        if asked + decided + ended == 0 {
            return None;
        }
        coordinator.events.tell(Change::Delegations);
        if decided + ended > 0 {
            coordinator.pokes.open_searches.notify_one();
            coordinator.pokes.place_hosts.notify_one();
            coordinator.pokes.route_urls.notify_one();
        }
        Some(format!("asked {asked} agents, decided {decided} searches, ended {ended} without an agent"))
    }
}

/// Whom a search came to.
#[derive(Clone, Copy)]
struct Choice {
    agent: AgentId,
    rtt_us: u32,
    reason: Reason,
    provisional: bool,
}

/// Enters a committed decision into the atlas in use, which may be newer than the one it was thought out on.
fn enter(coordinator: &Coordinator, search: &OpenSearch, choice: Choice) {
    let Some(atlas) = coordinator.atlas() else { return };
    if let Some(subnet) = atlas.hierarchy().find(&search.subnet) {
        // Who had it is told at once to let go of the hosts.
        let former = atlas.book().holding(subnet).map(|holding| holding.agent);
        coordinator.wakes.ring(former.filter(|former| *former != choice.agent));
        atlas.enter(subnet, Holding { agent: choice.agent, reason: choice.reason });
    }
}

fn availability(coordinator: &Coordinator, worker: &Worker) -> Availability {
    let now = coordinator.now();
    let heard_of = worker.last_beat_at.is_some_and(|at| at >= coordinator.heard_since());
    if worker.asleep_until.is_some_and(|until| until > now) {
        Availability::Asleep
    } else if !heard_of {
        Availability::Unreachable
    } else if worker.orders >= coordinator.config.limits.orders_per_agent {
        Availability::Busy
    } else {
        Availability::Ready
    }
}

/// A step of a trail as the search reads it; none for words that no version of the coordinator writes.
fn read(asked: &searches::Asked) -> Option<Asked> {
    let verdict = match (asked.state.as_str(), asked.rtt_us) {
        ("asked", _) => Verdict::Pending,
        ("measured", Some(rtt_us)) => Verdict::Measured { rtt_us },
        ("unreachable" | "refused", _) => Verdict::Unreachable,
        ("expired", _) => Verdict::Expired,
        _ => return None,
    };
    Some(Asked { agent: asked.agent, phase: Phase::from_word(&asked.phase)?, verdict })
}
