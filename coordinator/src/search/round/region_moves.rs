//! Searches for subnets that a loan keeps within a region.

use std::borrow::Cow;

use delegation::AvailableAgents;
use hierarchy::{Range, SubnetId};
use model::AgentId;
use region::moves::MoveRule;

use crate::runtime::region_moves::addresses;
use crate::search::round::SearchRound;

impl SearchRound<'_> {
    /// Whether the search must wait: its agent cannot lose the subnet yet. A decision that leaves
    /// out every other agent would be final.
    pub(super) fn waits_for_region(&self, subnet: &Range) -> bool {
        self.delegated.agent_of(subnet).is_some_and(|holder| {
            self.region_moves.rule(addresses(subnet), holder) == MoveRule::Wait
        })
    }

    /// The agent that has the subnet, where its region moves the hosts to `agent` by itself.
    pub(super) fn moved_from(&self, subnet: &Range, agent: AgentId) -> Option<AgentId> {
        let holder = self.delegated.agent_of(subnet)?;
        self.region_moves.mover(addresses(subnet), holder, agent)
    }

    /// Those of these agents that may get the subnet.
    pub(super) fn permitted<'a>(
        &self,
        agents: &'a AvailableAgents,
        subnet: SubnetId,
    ) -> Cow<'a, AvailableAgents> {
        let hierarchy = self.delegated.hierarchy();
        let mut permitted = self.constraints.permitted(hierarchy, agents, subnet);
        let Some(holder) = self.delegated.delegation_table().agent_of(subnet) else {
            return permitted;
        };
        let range = addresses(&hierarchy.subnet(subnet).range());
        if self.region_moves.rule(range, holder) != MoveRule::Free {
            for agent in agents.agents() {
                if !self.region_moves.allows(range, holder, agent) {
                    permitted.to_mut().remove(agent);
                }
            }
        }
        permitted
    }
}
