//! One walk over searches: thinks the next step of each out, and carries it out.
//!
//! Thinking is `delegation::next_step` or `delegation::predictor::next_step`, on the trail as
//! Postgres has it, within the budgets of probes. Orders and decisions are collected and carried
//! out together.

mod next_target;
mod outcome;
mod skipped;
mod verdicts;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use delegation::budget::{ProbeLimits, ProbeUsage};
use delegation::target;
use delegation::{
    Availability, AvailableAgents, Candidate, Constraints, ProbeOutcome, Search, Step, TrailProbe,
};
use hierarchy::SubnetId;
use model::{AgentId, Policy, Reason, Strategy};
use store::StoreError;
use store::agents::{self, Worker};
use store::probes::{self, Expected, NewProbe};
use store::searches::{self, OpenSearch};

use self::next_target::{SIBLINGS, next_target};
use self::outcome::Done;
use self::skipped::{Moment, passed_over};
use self::verdicts::{Choice, Verdict, Verdicts};
use crate::predictor::{Lesson, Question, availability, know, probe_limits};
use crate::runtime::back_off::retry_ms;
use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::events::Event;
use crate::search::DelegationSearch;

/// A walk over open searches.
pub struct Walk<'a> {
    parts: &'a DelegationSearch,
    delegated: Arc<DelegatedHierarchy>,
    policy: Arc<Policy>,
    probe_limits: ProbeLimits,
    roster: AvailableAgents,
    constraints: Constraints,
    orders: HashMap<AgentId, u32>,
    unsent: Vec<NewProbe>,
    verdicts: Verdicts<'a>,
    done: Done,
}

impl<'a> Walk<'a> {
    /// Sees who can be asked.
    pub async fn begin(
        parts: &'a DelegationSearch,
        delegated: Arc<DelegatedHierarchy>,
    ) -> Result<Self, anyhow::Error> {
        know(&parts.predictor, delegated.hierarchy()).await?;
        parts.predictor.insight.spending.know(&parts.predictor, &delegated).await?;
        let workers = agents::workers(&parts.store).await?;
        let policy = parts.policy.load_full();
        let probe_limits = probe_limits(policy.probes);
        let spending = &parts.predictor.insight.spending;
        let seen = |worker: &Worker| {
            let seen = availability(&parts.limits, worker, parts.clock.now());
            spending.usage(|usage| {
                usage.availability(&probe_limits, worker.agent, seen, parts.clock.now())
            })
        };
        let roster = workers.iter().map(|worker| (worker.agent, seen(worker))).collect();
        let orders = workers.iter().map(|worker| (worker.agent, worker.orders)).collect();
        let constraints = current_constraints(&parts.store, parts.clock.now()).await?;
        let verdicts = Verdicts::new(parts, Arc::clone(&delegated));
        let (unsent, done) = (Vec::new(), Done::default());
        Ok(Self {
            parts,
            delegated,
            policy,
            probe_limits,
            roster,
            constraints,
            orders,
            unsent,
            verdicts,
            done,
        })
    }

    /// The next step of each search: thought out one after the other, carried out together.
    pub async fn over(&mut self, searches: &[OpenSearch]) -> Result<(), StoreError> {
        for search in searches {
            self.step(search).await?;
        }
        self.send().await
    }

    /// The next step of one search; several where it may ask several agents at the same time.
    async fn step(&mut self, search: &OpenSearch) -> Result<(), StoreError> {
        let Some(subnet) = self.delegated.hierarchy().find(&search.subnet) else {
            self.done.ended += 1;
            return searches::abandon(&self.parts.store, search.id, self.parts.clock.now()).await;
        };
        if self.constraints.pin(self.delegated.hierarchy(), subnet).is_some() {
            return self.leave_pinned(search, subnet).await;
        }
        let mut trail: Vec<TrailProbe> = search.trail.iter().map(read).collect();
        if target::is_silent(&trail) && self.retarget(search).await? {
            return Ok(());
        }
        for nth in 1..=self.policy.parallel.max(1) {
            match self.think(search, subnet, &trail) {
                (Step::Ask(candidate), expected) => {
                    self.ask(search, (subnet, nth), candidate, expected);
                    let (agent, phase) = (candidate.agent, candidate.phase);
                    trail.push(TrailProbe { agent, phase, outcome: ProbeOutcome::Pending });
                }
                (Step::Decide { agent, rtt_us, reason, provisional }, _) => {
                    let choice = Choice { agent, rtt_us, reason, provisional };
                    self.decide(search, subnet, &trail, choice).await;
                    break;
                }
                (Step::NoAnswer, _) => return self.give_up(search).await,
                (Step::Wait | Step::NoAgents, _) => break,
            }
        }
        Ok(())
    }

    /// The step within the budgets, and what is expected of whom it asks.
    fn think(
        &mut self,
        search: &OpenSearch,
        subnet: SubnetId,
        trail: &[TrailProbe],
    ) -> (Step, Option<Expected>) {
        let policy = delegation::Policy {
            threshold_us: search.threshold_us,
            patience_ms: self.policy.patience_ms.into(),
            parallel: self.policy.parallel as usize,
        };
        let now = self.parts.clock.now();
        let waited_ms = now.0.saturating_sub(search.opened_at.0).max(0).unsigned_abs();
        let predictive = search.strategy == Strategy::Predictive;
        let search = Search { subnet, trail, provisional: search.provisional, waited_ms };
        let insight = &self.parts.predictor.insight;
        let roster = &*self.constraints.permitted(self.delegated.hierarchy(), &self.roster, subnet);
        let question = Question { predictive, roster, policy: &policy, search: &search };
        let (step, expected) = insight.next_step(&self.delegated, &question);
        let allowed = insight
            .spending
            .usage(|usage| usage.hold(&self.probe_limits, step, (roster, &policy, &search), now));
        self.done.held += usize::from(allowed != step);
        (allowed, expected)
    }

    /// Where a pin holds there is nothing to search for: the agent of the pin gets it.
    async fn leave_pinned(
        &mut self,
        search: &OpenSearch,
        subnet: SubnetId,
    ) -> Result<(), StoreError> {
        let holding = self.delegated.delegation_table().get(subnet);
        if holding.is_some_and(|holding| holding.reason == Reason::Pinned) {
            searches::leave_pinned(&self.parts.store, search.id, self.parts.clock.now()).await?;
        } else {
            self.parts.events.emit(Event::PinNotApplied);
        }
        Ok(())
    }

    async fn decide(
        &mut self,
        search: &OpenSearch,
        subnet: SubnetId,
        trail: &[TrailProbe],
        choice: Choice,
    ) {
        let (constraints, roster) = (&self.constraints, &self.roster);
        let moment = Moment { delegated: &self.delegated, constraints, roster, subnet, trail };
        let (spending, now) = (&self.parts.predictor.insight.spending, self.parts.clock.now());
        let spent = |agent| {
            let seen = |usage: &mut ProbeUsage| {
                usage.availability(&self.probe_limits, agent, Availability::Ready, now)
            };
            spending.usage(seen) == Availability::Busy
        };
        let skipped = passed_over(&moment, (choice.reason, choice.agent), spent);
        let (search, lesson) = (search.clone(), Lesson::of(subnet, trail));
        self.verdicts.add(Verdict { search, choice, lesson, skipped }).await;
    }

    /// Collects the `nth` order of this walk for the search.
    fn ask(
        &mut self,
        search: &OpenSearch,
        (subnet, nth): (SubnetId, u32),
        candidate: Candidate,
        expected: Option<Expected>,
    ) {
        let (parts, agent) = (self.parts, candidate.agent);
        let step = search.trail.last().map_or(0, |asked| asked.step).saturating_add(nth);
        let level = self.delegated.hierarchy().subnet(candidate.level).range();
        let phase = candidate.phase;
        self.unsent.push(NewProbe { search: search.id, step, agent, phase, level, expected });
        let orders = self.orders.entry(agent).or_default();
        *orders += 1;
        let (now, full) = (parts.clock.now(), *orders >= parts.limits.orders_per_agent);
        let seen = if full { Availability::Busy } else { Availability::Ready };
        let seen = parts.predictor.insight.spending.usage(|usage| {
            usage.record(agent, subnet, now);
            usage.availability(&self.probe_limits, agent, seen, now)
        });
        self.roster.set(agent, seen);
    }

    /// Carries out the decisions, and sends the orders, that were collected so far: they are about
    /// different searches.
    async fn send(&mut self) -> Result<(), StoreError> {
        let orders = std::mem::take(&mut self.unsent);
        let asking = ask(self.parts, &orders);
        let (carried_out, asked) = tokio::join!(self.verdicts.carry_out(), asking);
        asked?;
        self.done.asked += orders.len();
        let carried_out = carried_out?;
        self.done.decided += carried_out.made;
        carried_out.gone.into_iter().for_each(|agent| self.roster.remove(agent));
        Ok(())
    }

    /// Tries another address of the subnet, where one is known that was not silent lately. Whether
    /// there was one.
    async fn retarget(&mut self, search: &OpenSearch) -> Result<bool, StoreError> {
        let (store, now) = (&self.parts.store, self.parts.clock.now());
        let siblings = searches::siblings(store, &search.subnet, SIBLINGS).await?;
        let Some(target) = next_target(search, &siblings, now) else { return Ok(false) };
        let done = searches::retarget(store, search.id, &target, now).await?;
        self.done.retargeted += usize::from(done);
        self.parts.events.emit(Event::SearchReady);
        Ok(done)
    }

    async fn give_up(&mut self, search: &OpenSearch) -> Result<(), StoreError> {
        if self.retarget(search).await? {
            return Ok(());
        }
        let now = self.parts.clock.now();
        let reason = format!("no agent got an answer from {}", search.target);
        let attempts = self.parts.limits.search_attempts;
        let retry_at = now.plus_ms(retry_ms(search.attempts.saturating_add(4)));
        self.done.ended += 1;
        searches::silent(&self.parts.store, search.id, &reason, retry_at, attempts, now).await
    }

    /// What was done, for the status; tells whoever waits for it.
    pub fn end(self) -> Option<String> {
        let Self { parts, done, .. } = self;
        let told = done.told()?;
        parts.events.emit(Event::SearchesAdvanced);
        if done.decided + done.ended > 0 {
            parts.events.emit(Event::SearchesEnded);
        }
        // What was just measured may make the first landmarks: from then on searches take fewer
        // probes.
        if done.decided > 0 && !parts.predictor.insight.has_enough() {
            parts.events.emit(Event::LandmarksNeeded);
        }
        Some(told)
    }
}

async fn ask(parts: &DelegationSearch, orders: &[NewProbe]) -> Result<(), StoreError> {
    if orders.is_empty() {
        return Ok(());
    }
    probes::ask(&parts.store, orders, parts.clock.now()).await?;
    let asked: HashSet<AgentId> = orders.iter().map(|order| order.agent).collect();
    parts.agent_wakeups.wake(asked);
    Ok(())
}

/// A step of a trail as the search reads it.
fn read(asked: &searches::Asked) -> TrailProbe {
    let outcome = ProbeOutcome::of(asked.state, asked.rtt_us);
    TrailProbe { agent: asked.agent, phase: asked.phase, outcome }
}
