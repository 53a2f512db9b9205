//! Agents that a search skipped; the explanation of the delegation shows them.

use std::cmp::Reverse;

use delegation::{Availability, TrailProbe, candidates, skipped};
use hierarchy::SubnetId;
use model::{AgentId, Reason, SkipReason};
use store::agents::Worker;
use store::delegations::Skipped;

use crate::search::round::SearchRound;

/// Skipped agents that are stored with one decision.
const MAX_STORED: usize = 100;
/// Absent agents that are named. All of them would be stored with every decision, for as long as
/// they are not revoked.
const MAX_ABSENT: usize = 10;

/// The absent agents that explanations name: those with the latest heartbeats.
pub(super) fn latest_absent(mut absent: Vec<&Worker>) -> Vec<AgentId> {
    absent.sort_by_key(|worker| (Reverse(worker.last_heartbeat_at), worker.agent));
    absent.into_iter().map(|worker| worker.agent).take(MAX_ABSENT).collect()
}

impl SearchRound<'_> {
    /// The agents that the search did not ask although their turn had come, each with the reason.
    pub(super) fn skipped_agents(
        &self,
        subnet: SubnetId,
        trail: &[TrailProbe],
        reason: Reason,
        chosen: AgentId,
    ) -> Vec<Skipped> {
        // A prediction skips excluded, drained and absent agents only: it asks by probability, so
        // that an unavailable agent that is probably far had no turn.
        let leaves_none_out = self.constraints.exclusions().is_empty()
            && self.constraints.drained().is_empty()
            && self.absent.is_empty();
        if reason == Reason::Predicted && leaves_none_out {
            return Vec::new();
        }
        let hierarchy = self.delegated.hierarchy();
        let delegation_table = self.delegated.delegation_table();
        let mut agents = self.agents.clone();
        self.absent.iter().for_each(|agent| agents.set(*agent, Availability::Unreachable));
        let order = candidates(hierarchy, &delegation_table, &agents, subnet);
        let why = |agent| self.skip_reason(subnet, agent);
        skipped(order, trail, (reason, chosen), why)
            .into_iter()
            .map(|(agent, why)| Skipped { agent, why })
            .take(MAX_STORED)
            .collect()
    }

    /// Why the agent is not asked about the subnet now; `None` when it can be asked.
    fn skip_reason(&self, subnet: SubnetId, agent: AgentId) -> Option<SkipReason> {
        if self.constraints.drained().contains(&agent) {
            return Some(SkipReason::Drained);
        }
        if self.constraints.exclusion(self.delegated.hierarchy(), subnet, agent).is_some() {
            return Some(SkipReason::Excluded);
        }
        if self.absent.contains(&agent) {
            return Some(SkipReason::Absent);
        }
        match self.agents.availability(agent)? {
            Availability::Ready => None,
            // An agent without budget is shown to the search as busy; the explanation tells both
            // apart.
            Availability::Busy if self.is_budget_spent(agent) => Some(SkipReason::Budget),
            Availability::Busy => Some(SkipReason::Busy),
            Availability::Idle => Some(SkipReason::Idle),
            Availability::Asleep => Some(SkipReason::Asleep),
            Availability::Unreachable => Some(SkipReason::Unreachable),
        }
    }

    fn is_budget_spent(&self, agent: AgentId) -> bool {
        let now = self.parts.clock.now();
        let availability = self.parts.predictor.state.budget.usage(|usage| {
            usage.availability(&self.policy.probes, agent, Availability::Ready, now)
        });
        availability == Availability::Busy
    }
}
