//! The shipped budget of probes, on a clock that goes on a day when nothing more may be asked.

use delegation::budget::ProbeUsage;
use delegation::{Availability, AvailableAgents, Search, Step};
use model::policy::ProbesADay;
use model::{DAY_MS, Policy, UnixMillis};

use crate::PlacedAgent;

/// Probes of the simulated day, and its date.
#[derive(Debug, Default)]
pub(super) struct DailyBudget {
    usage: ProbeUsage,
    limits: ProbesADay,
    day: i64,
}

impl DailyBudget {
    /// The step of a search within the budget. A search that is held back goes on the next day.
    pub(super) fn step(
        &mut self,
        agents: &[PlacedAgent],
        policy: &Policy,
        search: &Search<'_>,
        next: impl Fn(&AvailableAgents) -> Step,
    ) -> Step {
        let today = self.within(agents, policy, search, &next);
        let step = if today == Step::Wait {
            self.day += 1;
            self.within(agents, policy, search, &next)
        } else {
            today
        };
        if let Step::Ask(candidate) = step {
            self.usage.record(candidate.agent, search.subnet, self.now());
        }
        step
    }

    fn within(
        &self,
        agents: &[PlacedAgent],
        policy: &Policy,
        search: &Search<'_>,
        next: impl Fn(&AvailableAgents) -> Step,
    ) -> Step {
        let available = |agent: &PlacedAgent| {
            let ready = Availability::Ready;
            let now = self.now();
            (agent.agent, self.usage.availability(&self.limits, agent.agent, ready, now))
        };
        let available: AvailableAgents = agents.iter().map(available).collect();
        let step = next(&available);
        self.usage.hold(&self.limits, step, (&available, policy, search), self.now())
    }

    fn now(&self) -> UnixMillis {
        UnixMillis(self.day * DAY_MS)
    }
}
