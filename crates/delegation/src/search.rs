//! The search for the agent that shall crawl a subnet (IPMicra III.E), one step at a time.
//!
//! A subnet that is already delegated needs no search: "check if that subnet is already delegated
//! to a crawler. If so, the URL is delegated to this migrating crawler." That is
//! [`DelegationTable::agent_of`].

use std::collections::HashSet;

use hierarchy::{Hierarchy, SubnetId};
use model::{AgentId, Phase, Reason};

use crate::trail::Measurement;
use crate::{AvailableAgents, Candidate, DelegationTable, ProbeOutcome, TrailProbe, candidates};

/// What the search engine's administrator decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// A round trip below this is good enough to stop asking, in microseconds (III.D: 50 ms gave a
    /// good ratio of quality to probes).
    pub threshold_us: u32,
    /// How long a URL waits for the search before it goes to the best agent so far, in
    /// milliseconds.
    pub patience_ms: u64,
    /// How many agents may be asked at the same time. The paper asks "sequentially": 1.
    pub parallel: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self { threshold_us: 50_000, patience_ms: 60_000, parallel: 1 }
    }
}

/// A search as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search<'a> {
    /// What shall be delegated.
    pub subnet: SubnetId,
    /// Who was asked so far, in the order of asking.
    pub trail: &'a [TrailProbe],
    /// Who holds the subnet for the time being, when a provisional decision was carried out.
    pub provisional: Option<AgentId>,
    /// Since the search was opened, in milliseconds.
    pub waited_ms: u64,
}

/// What to do next for a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Order a probe from this agent and enter it in the trail as pending.
    Ask(Candidate),
    /// Nothing to do until an answer comes, an agent becomes ready, or patience ends.
    Wait,
    /// Delegate the subnet. A provisional decision leaves the search open: go on asking for the
    /// next step.
    Decide {
        /// To whom.
        agent: AgentId,
        /// Its round trip, in microseconds.
        rtt_us: u32,
        /// Why.
        reason: Reason,
        /// A better agent may still be found: somebody has not been asked, or has not answered.
        provisional: bool,
    },
    /// Everybody was asked and nobody got an answer from the target: do not delegate, try another
    /// address or later.
    NoAnswer,
    /// There is nobody to ask.
    NoAgents,
}

/// The next step of `search`, computed from its trail alone; asking again without a change gives
/// the same step.
///
/// > We stop as soon as we find a crawler that satisfies the probing threshold. […] In the rare
/// > case that none of the crawlers satisfies the probing threshold, the subnet is delegated to the
/// > crawler with the lower probing result. (III.E)
pub fn next_step(
    hierarchy: &Hierarchy,
    delegation_table: &DelegationTable,
    roster: &AvailableAgents,
    policy: &Policy,
    search: &Search<'_>,
) -> Step {
    let satisfying = search.fastest(roster).filter(|fastest| fastest.rtt_us < policy.threshold_us);
    let asked = search.asked();
    let order = candidates(hierarchy, delegation_table, roster, search.subnet)
        .filter(|other| !asked.contains(&other.agent));
    let rule = StopRule {
        satisfied: satisfying.map(|fastest| threshold_reason(fastest.phase)),
        otherwise: Reason::Lowest,
    };
    proceed(roster, policy, search, rule, order)
}

/// How a strategy sees a search.
#[derive(Clone, Copy)]
pub(crate) struct StopRule {
    /// The fastest so far is good enough, for this reason.
    pub(crate) satisfied: Option<Reason>,
    /// Why the fastest gets the subnet when nobody is left to ask.
    pub(crate) otherwise: Reason,
}

/// What every strategy does with an order of candidates who were not asked yet.
///
/// Agents that cannot be asked now are passed over and come back to when they are ready. When only
/// such are left the search waits for them; from the end of its patience on the URL is with the
/// best agent so far, provisionally.
pub(crate) fn proceed(
    roster: &AvailableAgents,
    policy: &Policy,
    search: &Search<'_>,
    rule: StopRule,
    mut order: impl Iterator<Item = Candidate>,
) -> Step {
    if roster.is_empty() {
        return Step::NoAgents;
    }
    let fastest = search.fastest(roster);
    if let (Some(fastest), Some(reason)) = (fastest, rule.satisfied) {
        return fastest.decide(reason, false);
    }
    let overdue = fastest.filter(|_| search.waited_ms >= policy.patience_ms);
    if let (Some(fastest), None) = (overdue, search.provisional) {
        return fastest.decide(Reason::Lowest, true);
    }
    let pending = search.pending(roster);
    if pending >= policy.parallel.max(1) {
        return Step::Wait;
    }
    let mut passed_over = false;
    let ready = order.find(|candidate| {
        let ready = roster.is_ready(candidate.agent);
        passed_over |= !ready;
        ready
    });
    match ready {
        Some(candidate) => Step::Ask(candidate),
        None if pending > 0 => Step::Wait,
        None if passed_over => some_cannot_be_asked(overdue, search.provisional),
        None => fastest.map_or(Step::NoAnswer, |fastest| fastest.decide(rule.otherwise, false)),
    }
}

/// While sleepers are waited for, the URLs are with the best agent so far.
fn some_cannot_be_asked(overdue: Option<Measurement>, provisional: Option<AgentId>) -> Step {
    let better = overdue.filter(|fastest| provisional != Some(fastest.agent));
    better.map_or(Step::Wait, |fastest| fastest.decide(Reason::Lowest, true))
}

impl Search<'_> {
    /// What to do while nobody may be asked.
    pub(crate) fn hold(&self, roster: &AvailableAgents, policy: &Policy) -> Step {
        let overdue = self.fastest(roster).filter(|_| self.waited_ms >= policy.patience_ms);
        some_cannot_be_asked(overdue, self.provisional)
    }

    pub(crate) fn asked(&self) -> HashSet<AgentId> {
        self.trail.iter().map(|asked| asked.agent).collect()
    }

    /// "Delegated to the fastest": of several equal ones, the one asked first.
    pub(crate) fn fastest(&self, roster: &AvailableAgents) -> Option<Measurement> {
        let measured = self.trail.iter().filter_map(TrailProbe::measurement);
        measured
            .filter(|measured| roster.knows(measured.agent))
            .min_by_key(|measured| measured.rtt_us)
    }

    fn pending(&self, roster: &AvailableAgents) -> usize {
        let pending = self.trail.iter().filter(|asked| asked.outcome == ProbeOutcome::Pending);
        pending.filter(|asked| roster.knows(asked.agent)).count()
    }
}

impl Measurement {
    fn decide(self, reason: Reason, provisional: bool) -> Step {
        Step::Decide { agent: self.agent, rtt_us: self.rtt_us, reason, provisional }
    }
}

fn threshold_reason(phase: Phase) -> Reason {
    match phase {
        Phase::Company => Reason::Company,
        Phase::Sibling | Phase::SiblingChild | Phase::Rest | Phase::Predicted => Reason::Threshold,
    }
}
