//! In which order the paper asks the agents (IPMicra III.E).

use hierarchy::{Hierarchy, SubnetId};
use model::{AgentId, Phase};

use crate::{AvailableAgents, DelegationTable};

/// An agent that may be asked to probe, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Whom to ask.
    pub agent: AgentId,
    /// Why it is asked at this point.
    pub phase: Phase,
    /// The subnet whose inside is searched: an ancestor of the target; the target itself in
    /// [`Phase::Company`] and [`Phase::Predicted`].
    pub level: SubnetId,
}

/// Everybody on the roster in the order of asking, first reason first. An agent comes again where
/// it has several reasons; the search asks it once, at the first.
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
    roster: &'a AvailableAgents,
    subnet: SubnetId,
) -> impl Iterator<Item = Candidate> + 'a {
    let company = hierarchy.subnet(subnet).company();
    let same_company =
        company.into_iter().flat_map(|company| delegation_table.agents_of_company(company));
    let climb = hierarchy.ancestors(subnet).flat_map(|level| {
        let siblings = delegation_table.agents_of_children(level).map(with(Phase::Sibling, level));
        siblings.chain(delegation_table.agents_inside(level).map(with(Phase::SiblingChild, level)))
    });
    let root = hierarchy.ancestors(subnet).last().unwrap_or(subnet);
    same_company
        .map(with(Phase::Company, subnet))
        .chain(climb)
        .chain(roster.agents().map(with(Phase::Rest, root)))
        .filter(|candidate| roster.knows(candidate.agent))
}

fn with(phase: Phase, level: SubnetId) -> impl Fn(AgentId) -> Candidate {
    move |agent| Candidate { agent, phase, level }
}
