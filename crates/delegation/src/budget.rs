//! How many probes a day: of each agent, towards each subnet, and in all.

use std::collections::HashMap;

use hierarchy::SubnetId;
use model::{AgentId, UnixMillis};

use crate::{Availability, AvailableAgents, Policy, Search, Step};

/// What the administrator allows, in probes a day (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeLimits {
    /// That one agent may be asked for.
    pub per_agent: u32,
    /// That one subnet may receive.
    pub per_target: u32,
    /// Of everybody together.
    pub total: u64,
}

impl Default for ProbeLimits {
    /// Twenty thousand of an agent (one in four seconds), fifty to a subnet, a million in all.
    fn default() -> Self {
        Self { per_agent: 20_000, per_target: 50, total: 1_000_000 }
    }
}

/// What was asked for today.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProbeUsage {
    day: i64,
    agents: HashMap<AgentId, u32>,
    targets: HashMap<SubnetId, u32>,
    total: u64,
}

const DAY_MS: i64 = 86_400_000;

impl ProbeUsage {
    /// Notes one probe.
    pub fn record(&mut self, agent: AgentId, target: SubnetId, at: UnixMillis) {
        self.turn(at);
        *self.agents.entry(agent).or_default() += 1;
        *self.targets.entry(target).or_default() += 1;
        self.total += 1;
    }

    /// An agent as a search shall see it: busy when its probes of today are used up.
    pub fn availability(
        &self,
        limits: &ProbeLimits,
        agent: AgentId,
        now: Availability,
        at: UnixMillis,
    ) -> Availability {
        let spent = self.is_today(at)
            && self.agents.get(&agent).is_some_and(|spent| *spent >= limits.per_agent);
        if spent && now == Availability::Ready { Availability::Busy } else { now }
    }

    /// Whether another probe may go to `target` today.
    pub fn allows(&self, limits: &ProbeLimits, target: SubnetId, at: UnixMillis) -> bool {
        let of_target = self.targets.get(&target).copied().unwrap_or(0);
        let room = of_target < limits.per_target && self.total < limits.total;
        let none = limits.per_target == 0 || limits.total == 0;
        (room || !self.is_today(at)) && !none
    }

    /// The step of a search within the limits: an order to ask is held back when no probe may go
    /// to the subnet. A held search behaves as if every candidate slept: at the end of its patience
    /// the best so far holds the subnet, and it goes on tomorrow.
    pub fn hold(
        &self,
        limits: &ProbeLimits,
        step: Step,
        (roster, policy, search): (&AvailableAgents, &Policy, &Search<'_>),
        at: UnixMillis,
    ) -> Step {
        match step {
            Step::Ask(_) if !self.allows(limits, search.subnet, at) => search.hold(roster, policy),
            step => step,
        }
    }

    fn is_today(&self, at: UnixMillis) -> bool {
        self.day == at.0.div_euclid(DAY_MS)
    }

    /// A new day begins with nothing spent.
    fn turn(&mut self, at: UnixMillis) {
        if !self.is_today(at) {
            *self = Self { day: at.0.div_euclid(DAY_MS), ..Self::default() };
        }
    }
}
