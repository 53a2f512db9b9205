//! Budget of probes a day: of each agent, towards each subnet, and in all.

use std::collections::HashMap;

use hierarchy::SubnetId;
use model::policy::ProbesADay;
use model::{AgentId, DAY_MS, Policy, UnixMillis};

use crate::{Availability, AvailableAgents, Search, Step};

/// Probes that were ordered today.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProbeUsage {
    day: i64,
    agents: HashMap<AgentId, u32>,
    targets: HashMap<SubnetId, u32>,
    total: u64,
}

impl ProbeUsage {
    /// Counts one probe of a subnet's search.
    pub fn record(&mut self, agent: AgentId, target: SubnetId, at: UnixMillis) {
        self.record_other(agent, at);
        *self.targets.entry(target).or_default() += 1;
    }

    /// Counts one probe that no search ordered: of a path, or of an agent's home address.
    pub fn record_other(&mut self, agent: AgentId, at: UnixMillis) {
        if !self.is_today(at) {
            *self = Self { day: at.0.div_euclid(DAY_MS), ..Self::default() };
        }
        *self.agents.entry(agent).or_default() += 1;
        self.total += 1;
    }

    /// Availability of an agent to a search: busy when its probes of today are used up.
    pub fn availability(
        &self,
        limits: &ProbesADay,
        agent: AgentId,
        now: Availability,
        at: UnixMillis,
    ) -> Availability {
        let of_agent = self.agents.get(&agent).copied();
        let is_used_up =
            self.is_today(at) && of_agent.is_some_and(|count| count >= limits.per_agent);
        if is_used_up && now == Availability::Ready { Availability::Busy } else { now }
    }

    /// How many searches may be open at a time when these agents can be asked, each for `in_flight`
    /// probes at the same time, and each search asks `parallel` agents.
    ///
    /// Half of what agents can answer is kept in reserve: searches do not ask all agents equally
    /// often, and later searches need fewer probes, because they use the decisions of earlier ones.
    pub fn searches_at_once(
        &self,
        limits: &ProbesADay,
        agents: impl IntoIterator<Item = AgentId>,
        (in_flight, parallel): (u32, u32),
        at: UnixMillis,
    ) -> u64 {
        let spent = |agent| match self.agents.get(&agent) {
            Some(count) if self.is_today(at) => *count,
            _ => 0,
        };
        let free = |agent| u64::from(in_flight.min(limits.per_agent.saturating_sub(spent(agent))));
        let spent_in_all = if self.is_today(at) { self.total } else { 0 };
        let probes: u64 = agents.into_iter().map(free).sum();
        let probes = probes.min(limits.in_all.saturating_sub(spent_in_all));
        probes.div_ceil(2 * u64::from(parallel.max(1)))
    }

    /// Whether another probe may go to `target` today.
    pub fn allows(&self, limits: &ProbesADay, target: SubnetId, at: UnixMillis) -> bool {
        if limits.per_target == 0 || limits.in_all == 0 {
            return false;
        }
        let of_target = self.targets.get(&target).copied().unwrap_or(0);
        !self.is_today(at) || (of_target < limits.per_target && self.total < limits.in_all)
    }

    /// The step of a search within the limits: an order to ask is held back when no probe may go to
    /// the subnet. A held search behaves as if every candidate were outside its span: at the end of
    /// its patience the fastest agent so far holds the subnet, and the search goes on tomorrow.
    pub fn hold(
        &self,
        limits: &ProbesADay,
        step: Step,
        (agents, policy, search): (&AvailableAgents, &Policy, &Search<'_>),
        at: UnixMillis,
    ) -> Step {
        match step {
            Step::Ask(_) if !self.allows(limits, search.subnet, at) => {
                search.hold(agents, policy, search.holder)
            }
            step => step,
        }
    }

    fn is_today(&self, at: UnixMillis) -> bool {
        self.day == at.0.div_euclid(DAY_MS)
    }
}
