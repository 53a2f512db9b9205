//! Candidates of a search: the order in which the paper asks the agents (IPMicra III.E).

use hierarchy::{Hierarchy, SubnetId};
use model::{AgentId, Phase};

use crate::{AvailableAgents, DelegationTable};

/// An agent that may be asked to probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// The agent to ask.
    pub agent: AgentId,
    /// Why it is asked at this point.
    pub phase: Phase,
    /// The subnet in which the agent was found: an ancestor of the target; the target itself in
    /// [`Phase::Company`] and [`Phase::Predicted`].
    pub level: SubnetId,
}

/// All available agents in the order of asking. An agent comes again where it has several phases;
/// the search asks it once, at the first.
///
/// > We check whether there is another subnet that belongs to the same company and is already
/// > delegated to a migrating crawler (or more). […] We navigate the IP-address hierarchy bottom up
/// > […]. We first discover the parent subnet and find all the subnets included in the parent
/// > subnet. Then, for all the sibling subnets that are already delegated, the coordinator
/// > sequentially asks their migrating crawlers, and the migrating crawlers of their children
/// > subnets […]. If no probing satisfies the threshold, the search continues to higher levels of
/// > the subnets tree. (III.E)
///
/// "Children" is read as everything below, because the paper finds "all the subnets included in the
/// parent": with direct children only, the climb would pass most agents by and could not end with
/// "none of the crawlers".
pub fn candidates<'a>(
    hierarchy: &'a Hierarchy,
    delegation_table: &'a DelegationTable,
    agents: &'a AvailableAgents,
    subnet: SubnetId,
) -> impl Iterator<Item = Candidate> + 'a {
    // Subnets of one company are often served from the same location.
    let company = hierarchy.subnet(subnet).company().into_iter();
    let same_company = company.flat_map(|company| delegation_table.agents_of_company(company));
    let climb = hierarchy.ancestors(subnet).flat_map(|level| {
        let siblings = delegation_table.agents_of_children(level).map(found(Phase::Sibling, level));
        let inside = delegation_table.agents_inside(level).map(found(Phase::SiblingChild, level));
        siblings.chain(inside)
    });
    // The paper does not know agents without a delegation in this address family: they live in a
    // subnet that another agent has, or in the other family. Here they come last.
    let root = hierarchy.ancestors(subnet).last().unwrap_or(subnet);
    let rest = agents.agents().map(found(Phase::Rest, root));
    let all = same_company.map(found(Phase::Company, subnet)).chain(climb).chain(rest);
    all.filter(|candidate| agents.knows(candidate.agent))
}

fn found(phase: Phase, level: SubnetId) -> impl Fn(AgentId) -> Candidate {
    move |agent| Candidate { agent, phase, level }
}
