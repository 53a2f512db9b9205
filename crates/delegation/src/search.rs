//! Delegation search, one step at a time (IPMicra III.E): finding the agent for a subnet.
//!
//! A subnet that is already delegated needs no search: "check if that subnet is already delegated
//! to a crawler. If so, the URL is delegated to this migrating crawler." That is
//! [`DelegationTable::agent_of`].
//!
//! Wanted: no agent is asked twice; an agent that cannot be asked never blocks a URL longer than
//! the policy's patience; the same trail gives the same step, so that a restart loses nothing.

use std::collections::HashSet;

use hierarchy::{Hierarchy, SubnetId};
use model::{AgentId, DAY_MS, Phase, Policy, Reason};

use crate::target;
use crate::trail::Measurement;
use crate::{
    Availability, AvailableAgents, Candidate, DelegationTable, ProbeOutcome, TrailProbe, candidates,
};

/// Milliseconds after which a search ends without any answer, however few agents it could ask: a
/// day, in which each agent had its span.
pub const LONGEST_SILENCE_MS: u64 = DAY_MS.unsigned_abs();

/// State of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search<'a> {
    /// The subnet to delegate.
    pub subnet: SubnetId,
    /// The probes so far, in the order of asking.
    pub trail: &'a [TrailProbe],
    /// The agent that has the subnet by a provisional decision of this search.
    pub provisional: Option<AgentId>,
    /// The agent that had the subnet before this search.
    pub holder: Option<AgentId>,
    /// Milliseconds since the search was opened in which agents could be asked.
    pub waited_ms: u64,
}

/// What to do next for a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Order a probe from this agent and add it to the trail as pending.
    Ask(Candidate),
    /// Wait until an answer comes, an agent becomes ready, or patience ends.
    Wait,
    /// Delegate the subnet. A provisional decision leaves the search open: go on asking for the
    /// next step.
    Decide {
        /// The agent that gets the subnet.
        agent: AgentId,
        /// Its round trip, in microseconds.
        rtt_us: u32,
        /// Why this agent.
        reason: Reason,
        /// A better agent may still be found: one has not been asked, or has not answered.
        provisional: bool,
    },
    /// All agents were asked and none got an answer from the target: do not delegate, try another
    /// address or later.
    NoAnswer,
    /// There is no agent to ask.
    NoAgents,
}

/// The next step of `search` by the paper's strategy.
///
/// > We stop as soon as we find a crawler that satisfies the probing threshold. […] In the rare
/// > case that none of the crawlers satisfies the probing threshold, the subnet is delegated to the
/// > crawler with the lower probing result. (III.E)
pub fn next_step(
    hierarchy: &Hierarchy,
    delegation_table: &DelegationTable,
    agents: &AvailableAgents,
    policy: &Policy,
    search: &Search<'_>,
) -> Step {
    let fastest = search.fastest(agents);
    let satisfying = fastest.filter(|fastest| fastest.rtt_us < policy.threshold_us);
    let satisfied = satisfying.map(|fastest| threshold_reason(fastest.phase));
    let asked: HashSet<AgentId> = search.trail.iter().map(|probe| probe.agent).collect();
    let order = candidates(hierarchy, delegation_table, agents, search.subnet);
    let order = order.filter(|candidate| !asked.contains(&candidate.agent));
    let rule = StopRule { satisfied, otherwise: Reason::Lowest, holder: search.holder };
    proceed(agents, policy, search, rule, order)
}

/// When a strategy ends a search, and with which reason.
#[derive(Clone, Copy)]
pub(crate) struct StopRule {
    /// The fastest so far is good enough, for this reason.
    pub(crate) satisfied: Option<Reason>,
    /// Reason of the fastest when no agent is left to ask.
    pub(crate) otherwise: Reason,
    /// The agent that has the subnet, if the strategy asks it at all.
    pub(crate) holder: Option<AgentId>,
}

/// The next step of any strategy; `order` are its candidates that were not asked yet.
///
/// Agents that cannot be asked now are skipped until they are ready. When only such are left the
/// search waits for them; from the end of its patience on the fastest agent so far has the subnet,
/// provisionally.
pub(crate) fn proceed(
    agents: &AvailableAgents,
    policy: &Policy,
    search: &Search<'_>,
    rule: StopRule,
    mut order: impl Iterator<Item = Candidate>,
) -> Step {
    if agents.is_empty() {
        return Step::NoAgents;
    }
    let fastest = search.fastest(agents);
    if let (Some(fastest), Some(reason)) = (fastest, rule.satisfied) {
        return fastest.decide(reason, false);
    }
    // Once patience ends, the URLs get an agent before another agent is asked or waited for.
    let is_overdue =
        search.waited_ms >= u64::from(policy.patience_ms) && !search.waits_for(rule.holder, agents);
    let overdue = fastest.filter(|_| is_overdue);
    if let (Some(fastest), None) = (overdue, search.provisional) {
        return fastest.decide(Reason::Lowest, true);
    }
    let pending = search.pending(agents);
    if pending >= policy.parallel.max(1) as usize {
        return Step::Wait;
    }
    let mut has_skipped = false;
    let ready = order.find(|candidate| {
        let is_ready = agents.is_ready(candidate.agent);
        has_skipped |= !is_ready;
        is_ready
    });
    match ready {
        Some(candidate) => Step::Ask(candidate),
        None if pending > 0 => Step::Wait,
        None if has_skipped => search.hold(agents, policy, rule.holder),
        None => fastest.map_or(Step::NoAnswer, |fastest| fastest.decide(rule.otherwise, false)),
    }
}

impl Search<'_> {
    /// Whether the agent was asked, answered or not.
    pub(crate) fn has_asked(&self, agent: AgentId) -> bool {
        self.trail.iter().any(|probe| probe.agent == agent)
    }

    /// Whether the agent was asked and has answered, or will not any more.
    pub(crate) fn has_answered(&self, agent: AgentId) -> bool {
        let mut trail = self.trail.iter();
        trail.any(|probe| probe.agent == agent && probe.outcome != ProbeOutcome::Pending)
    }

    /// The step while no agent can be asked. After the end of patience the fastest agent so far
    /// gets the subnet, if it is another than before and `holder` is not to be waited for. Where
    /// several agents got no answer and none got one, the target is given up for now; where fewer
    /// were asked, after [`LONGEST_SILENCE_MS`], unless one of the others takes probes. The agents
    /// that are left may never do so, and the search would be open for ever.
    pub(crate) fn hold(
        &self,
        agents: &AvailableAgents,
        policy: &Policy,
        holder: Option<AgentId>,
    ) -> Step {
        if self.waited_ms < u64::from(policy.patience_ms) {
            return Step::Wait;
        }
        match self.fastest(agents) {
            Some(_) if self.waits_for(holder, agents) => Step::Wait,
            Some(fastest) if self.provisional != Some(fastest.agent) => {
                fastest.decide(Reason::Lowest, true)
            }
            None if self.is_given_up(agents) && self.pending(agents) == 0 => Step::NoAnswer,
            Some(_) | None => Step::Wait,
        }
    }

    /// Whether the agent that has the subnet has not answered yet. Until then it keeps the subnet,
    /// however long it sleeps: other agents would crawl its hosts from the start, and may have to
    /// give them back. The search does not wait for an idle agent, because it is unknown when its
    /// owner lets it continue.
    fn waits_for(&self, holder: Option<AgentId>, agents: &AvailableAgents) -> bool {
        let is_expected = |holder| {
            let availability = agents.availability(holder);
            availability.is_some_and(|availability| availability != Availability::Idle)
        };
        holder.is_some_and(|holder| is_expected(holder) && !self.has_answered(holder))
    }

    /// Whether agents that cannot be asked are not waited for any more, without a measurement.
    fn is_given_up(&self, agents: &AvailableAgents) -> bool {
        let was_asked = !self.trail.is_empty();
        let is_measured = self.trail.iter().any(|probe| probe.measurement().is_some());
        let is_long = self.waited_ms >= LONGEST_SILENCE_MS && was_asked && !is_measured;
        let is_over = is_long && !agents.agents().any(|agent| self.lacks_budget(agents, agent));
        is_over || target::is_silent(self.trail)
    }

    /// Whether an agent takes probes and was not asked only because it has too many now, or because
    /// those of today are used up. Its turn comes tomorrow at the latest: older searches go first.
    fn lacks_budget(&self, agents: &AvailableAgents, agent: AgentId) -> bool {
        let availability = agents.availability(agent);
        let takes_probes = matches!(availability, Some(Availability::Ready | Availability::Busy));
        takes_probes && !self.has_asked(agent)
    }

    /// The fastest available agent; of several equal ones, the one asked first.
    pub(crate) fn fastest(&self, agents: &AvailableAgents) -> Option<Measurement> {
        let measured = self.trail.iter().filter_map(TrailProbe::measurement);
        let available = measured.filter(|measured| agents.knows(measured.agent));
        available.min_by_key(|measured| measured.rtt_us)
    }

    fn pending(&self, agents: &AvailableAgents) -> usize {
        let pending = self.trail.iter().filter(|probe| probe.outcome == ProbeOutcome::Pending);
        pending.filter(|probe| agents.knows(probe.agent)).count()
    }
}

impl Measurement {
    fn decide(self, reason: Reason, provisional: bool) -> Step {
        Step::Decide { agent: self.agent, rtt_us: self.rtt_us, reason, provisional }
    }
}

/// Reason of an agent below the threshold that was found in this phase.
fn threshold_reason(phase: Phase) -> Reason {
    match phase {
        Phase::Company => Reason::Company,
        Phase::Sibling | Phase::SiblingChild | Phase::Rest | Phase::Predicted | Phase::Control => {
            Reason::Threshold
        }
    }
}
