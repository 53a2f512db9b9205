//! Search round: computes the next step of each open search, then executes all steps together.
//!
//! A step is computed by `delegation::next_step` or `delegation::places::next_step` from the
//! trail of the search in Postgres and from the probe budget. A round collects probes and
//! decisions, so that a batch of searches costs two transactions.

mod decisions;
mod region_moves;
mod retarget;
mod skipped_agents;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use delegation::plausibility::{Admission, ReferenceTimes, Review, Trust};
use delegation::target;
use delegation::{
    Availability, AvailableAgents, Candidate, Constraints, ProbeOutcome, Search, Step, TrailProbe,
};
use hierarchy::SubnetId;
use model::{AgentId, Policy, Reason, SearchId, Strategy};
use region::moves::RegionMoves;
use store::StoreError;
use store::agents::{self, Worker};
use store::generations;
use store::probes::{self, ExpectedAnswer, NewProbe};
use store::searches::{self, OpenSearch};

use self::decisions::{PendingDecision, PendingDecisions};
use self::skipped_agents::latest_absent;
use crate::predictor::{Observation, ensure_trained, is_absent, search_reports};
use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::events::Event;
use crate::runtime::metrics::probes::ProbePurpose;
use crate::runtime::quantity::quantity;
use crate::runtime::uptime::{self, Uptime};
use crate::search::DelegationSearch;

/// One pass over the open searches.
pub struct SearchRound<'a> {
    parts: &'a DelegationSearch,
    delegated: Arc<DelegatedHierarchy>,
    policy: Arc<Policy>,
    agents: AvailableAgents,
    /// Time in which no coordinator led is no time in which a search waited for an agent.
    uptime: Uptime,
    /// Agents that searches do not wait for any more, for explanations.
    absent: Vec<AgentId>,
    /// Doubted agents, which searches only examine.
    suspects: AvailableAgents,
    constraints: Constraints,
    /// Where loans keep subnets within their regions.
    region_moves: Arc<RegionMoves>,
    /// What reports are judged by.
    references: Arc<ReferenceTimes>,
    trust: HashMap<AgentId, Trust>,
    /// Probes that each agent has not answered yet.
    open_probes: HashMap<AgentId, u32>,
    new_probes: Vec<NewProbe>,
    decisions: PendingDecisions<'a>,
    counts: StepCounts,
}

/// How many steps of each kind a round executed.
#[derive(Debug, Clone, Copy, Default)]
struct StepCounts {
    asked: usize,
    decided: usize,
    ended: usize,
    retargeted: usize,
    /// Searches that wait because the probe budget of the day is used up.
    held: usize,
}

impl<'a> SearchRound<'a> {
    /// Reads which agents can be asked, what admins constrain, and what was spent today.
    pub async fn begin(
        parts: &'a DelegationSearch,
        delegated: Arc<DelegatedHierarchy>,
    ) -> Result<Self, anyhow::Error> {
        let predictor = &parts.predictor;
        ensure_trained(predictor, delegated.hierarchy()).await?;
        predictor.state.budget.load(predictor, &delegated).await?;
        let workers = agents::workers(&parts.store).await?;
        let policy = parts.policy.load_full();
        let now = parts.clock.now();
        let uptime = uptime::read(&parts.store).await?;
        let (absent, present): (Vec<&Worker>, Vec<&Worker>) =
            workers.iter().partition(|worker| is_absent(worker, &uptime, now));
        let available: AvailableAgents = present
            .into_iter()
            .map(|worker| (worker.agent, predictor.availability(worker, &policy.probes)))
            .collect();
        let mut round = Self {
            parts,
            policy,
            agents: AvailableAgents::default(),
            uptime,
            absent: latest_absent(absent),
            suspects: AvailableAgents::default(),
            constraints: current_constraints(&parts.store, now).await?,
            region_moves: parts.region_moves.load_full(),
            references: predictor.state.references(delegated.hierarchy()),
            trust: predictor
                .state
                .trust(delegated.hierarchy(), search_reports(&parts.store).await?),
            open_probes: workers.iter().map(|worker| (worker.agent, worker.orders)).collect(),
            new_probes: Vec::new(),
            decisions: PendingDecisions::new(parts, Arc::clone(&delegated)),
            delegated,
            counts: StepCounts::default(),
        };
        let Admission { admitted, suspects } = round.review().admit(&available);
        round.agents = admitted;
        round.suspects = suspects;
        Ok(round)
    }

    /// Takes the next step of each search. Steps are computed one after the other, because a
    /// decision changes the order of candidates of the next search of the same company.
    pub async fn advance(&mut self, searches: &[OpenSearch]) -> Result<(), anyhow::Error> {
        for search in searches {
            self.advance_search(search).await?;
        }
        self.execute().await
    }

    /// Computes the next step of one search; several steps where the policy lets a search ask
    /// several agents at the same time.
    async fn advance_search(&mut self, search: &OpenSearch) -> Result<(), StoreError> {
        let Some(subnet) = self.delegated.hierarchy().find_delegable(&search.subnet) else {
            return self.end_without_subnet(search).await;
        };
        if self.constraints.pin(self.delegated.hierarchy(), subnet).is_some() {
            return self.end_pinned(search, subnet).await;
        }
        if self.waits_for_region(&search.subnet) {
            return Ok(());
        }
        let mut trail: Vec<TrailProbe> = search.trail.iter().map(trail_probe).collect();
        // Asking the remaining agents about an address that never answers wastes their probes.
        if target::is_silent(&trail) && self.retarget(search).await? {
            return Ok(());
        }
        for nth in 1..=self.policy.parallel.max(1) {
            match self.next_step(search, subnet, &trail) {
                (Step::Ask(candidate), expected) => {
                    self.add_probe(search, subnet, nth, candidate, expected);
                    // The next iteration must see this probe as asked.
                    let Candidate { agent, phase, .. } = candidate;
                    trail.push(TrailProbe { agent, phase, outcome: ProbeOutcome::Pending });
                }
                (Step::Decide { agent, rtt_us, reason, provisional }, _) => {
                    let decision = PendingDecision {
                        search: search.clone(),
                        agent,
                        rtt_us,
                        reason,
                        provisional,
                        observation: Observation::from_trail(
                            subnet,
                            &self.review().credible_trail(&trail),
                        ),
                        judged: self.review().judge_decided(&trail),
                        skipped: self.skipped_agents(subnet, &trail, reason, agent),
                        moved_from: self.moved_from(&search.subnet, agent),
                        entry: None,
                    };
                    self.decisions.add(decision).await;
                    break;
                }
                (Step::NoAnswer, _) => return self.end_unanswered(search).await,
                (Step::Wait | Step::NoAgents, _) => break,
            }
        }
        Ok(())
    }

    /// The next step within the probe budget, and the predicted answer of the agent that it asks.
    fn next_step(
        &mut self,
        search: &OpenSearch,
        subnet: SubnetId,
        trail: &[TrailProbe],
    ) -> (Step, Option<ExpectedAnswer>) {
        let policy = Policy { threshold_us: search.threshold_us, ..*self.policy };
        let now = self.parts.clock.now();
        let waited_ms = self.uptime.between_ms(search.opened_at, now).unsigned_abs();
        let predictive = search.strategy == Strategy::Predictive;
        let draw = draw(search.id);
        let trail = &*self.review().credible_trail(trail);
        let provisional = search.provisional;
        let holder = self.delegated.delegation_table().agent_of(subnet);
        let holder = holder.filter(|holder| provisional != Some(*holder));
        let search = Search { subnet, trail, provisional, holder, waited_ms };
        // An excluded agent is neither asked nor chosen, even when it has answered already.
        let hierarchy = self.delegated.hierarchy();
        let agents = &*self.permitted(&self.agents, subnet);
        let state = &self.parts.predictor.state;
        // The threshold (IPMicra III.D) stops a search in here: `delegation::next_step` decides
        // for the fastest agent of the trail once its round trip is below `threshold_us`.
        let (step, expected) =
            state.next_step(&self.delegated, predictive, agents, &policy, &search);
        let step = match step {
            Step::Decide { agent, .. } => {
                let control = state.control_agents(hierarchy, agents, &search, agent);
                let order = control.into_iter().chain(agents.agents());
                let step = self.review().confirm(step, &search, agents, draw, order);
                let suspects = self.permitted(&self.suspects, subnet);
                self.review().examine(step, &search, &suspects)
            }
            Step::Ask(_) | Step::Wait | Step::NoAnswer | Step::NoAgents => step,
        };
        let allowed = state
            .budget
            .usage(|usage| usage.hold(&self.policy.probes, step, (agents, &policy, &search), now));
        self.counts.held += usize::from(allowed != step);
        (allowed, expected)
    }

    /// How far the reports of the agents can be believed.
    fn review(&self) -> Review<'_> {
        let control_share = f64::from(self.policy.control_permille) / 1000.0;
        Review { references: &self.references, trust: &self.trust, control_share }
    }

    /// A new generation of the hierarchy may lack the subnet, or have a block in its place. Its
    /// hosts get another one.
    async fn end_without_subnet(&mut self, search: &OpenSearch) -> Result<(), StoreError> {
        // The search may be one of the hierarchy that replaces the one of this round, opened on it
        // or remapped to it. The next round uses that one.
        if self.is_replaced().await? {
            return Ok(());
        }
        self.counts.ended += 1;
        searches::abandon(&self.parts.store, search.id, self.parts.clock.now()).await
    }

    /// Whether another hierarchy is in use, or comes into use: searches are remapped before.
    async fn is_replaced(&self) -> Result<bool, StoreError> {
        let hierarchy = self.delegated.hierarchy();
        let in_use = self.parts.hierarchy.current();
        if in_use.is_none_or(|in_use| !Arc::ptr_eq(in_use.hierarchy(), hierarchy)) {
            return Ok(true);
        }
        let live = generations::live(&self.parts.store).await?;
        Ok(live.is_none_or(|live| live.id != hierarchy.generation()))
    }

    /// A pin decides without measurements: the search ends once `apply_constraints` has assigned
    /// the subnet to the agent of the pin.
    async fn end_pinned(
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

    /// Collects the `nth` probe of this round for the search, and counts it at once: the searches
    /// after it must see how many probes the agent has left.
    fn add_probe(
        &mut self,
        search: &OpenSearch,
        subnet: SubnetId,
        nth: u32,
        candidate: Candidate,
        expected: Option<ExpectedAnswer>,
    ) {
        let Candidate { agent, phase, level } = candidate;
        let step = search.trail.last().map_or(0, |asked| asked.step).saturating_add(nth);
        let level = self.delegated.hierarchy().subnet(level).range();
        self.new_probes.push(NewProbe { search: search.id, step, agent, phase, level, expected });
        let open_probes = self.open_probes.entry(agent).or_default();
        *open_probes += 1;
        let now = self.parts.clock.now();
        let is_full = *open_probes >= self.parts.limits.orders_per_agent;
        let available = if is_full { Availability::Busy } else { Availability::Ready };
        let available = self.parts.predictor.state.budget.usage(|usage| {
            usage.record(agent, subnet, now);
            usage.availability(&self.policy.probes, agent, available, now)
        });
        let group = if self.suspects.knows(agent) { &mut self.suspects } else { &mut self.agents };
        group.set(agent, available);
    }

    /// Commits the collected decisions and orders the collected probes. No search has both, so the
    /// two transactions can run at the same time.
    async fn execute(&mut self) -> Result<(), anyhow::Error> {
        let new_probes = std::mem::take(&mut self.new_probes);
        let ordering = order_probes(self.parts, &new_probes);
        let (committed, ordered) = tokio::join!(self.decisions.commit(), ordering);
        ordered?;
        self.counts.asked += new_probes.len();
        let committed = committed?;
        self.counts.decided += committed.made;
        for agent in committed.revoked_agents {
            self.agents.remove(agent);
        }
        Ok(())
    }

    /// Emits the events of what was done, and summarises it; `None` when nothing was done.
    pub fn finish(self) -> Option<String> {
        let Self { parts, counts, .. } = self;
        parts.metrics.ended(counts.ended as u64);
        let summary = counts.summary()?;
        if counts.has_advanced() {
            parts.events.emit(Event::SearchesAdvanced);
        }
        if counts.decided + counts.ended > 0 {
            parts.events.emit(Event::SearchesEnded);
        }
        Some(summary)
    }
}

impl StepCounts {
    /// Whether anything changed. A search that waits for the probes of tomorrow is counted in every
    /// round, and changes nothing.
    fn has_advanced(self) -> bool {
        let Self { asked, decided, ended, retargeted, held: _ } = self;
        asked + decided + ended + retargeted > 0
    }

    fn summary(self) -> Option<String> {
        let Self { asked, decided, ended, retargeted, held } = self;
        if !self.has_advanced() && held == 0 {
            return None;
        }
        let mut parts = vec![
            format!("asked {}", quantity(asked, "agent")),
            format!("decided {}", quantity(decided, "search")),
            format!("ended {ended} without an agent"),
        ];
        if retargeted > 0 {
            parts.push(format!("changed the target of {retargeted}"));
        }
        if held > 0 {
            parts.push(format!("{held} waiting for tomorrow: the probes of today are used up"));
        }
        Some(parts.join(", "))
    }
}

/// A number in [0, 1) that looks random and is the same at every step of a search: the decisions of
/// trusted agents with a small one are checked.
fn draw(search: SearchId) -> f64 {
    // Ids are consecutive. Multiplication and shift spread them evenly over all 64 bits, of which
    // the upper 53 become the fraction.
    let mixed = search.get().unsigned_abs().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

async fn order_probes(parts: &DelegationSearch, new: &[NewProbe]) -> Result<(), StoreError> {
    if new.is_empty() {
        return Ok(());
    }
    let ordered = probes::ask(&parts.store, new, parts.clock.now()).await?;
    parts.predictor.probe_metrics.ordered(ProbePurpose::Search, ordered);
    let asked: HashSet<AgentId> = new.iter().map(|probe| probe.agent).collect();
    parts.agent_wakeups.wake(asked);
    Ok(())
}

fn trail_probe(asked: &searches::TrailStep) -> TrailProbe {
    let outcome = ProbeOutcome::of(asked.state, asked.rtt_us);
    TrailProbe { agent: asked.agent, phase: asked.phase, outcome }
}
