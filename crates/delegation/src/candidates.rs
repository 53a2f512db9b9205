//! In which order the paper asks the agents (IPMicra III.E).

use hierarchy::{Hierarchy, SubnetId};
use protocol::AgentId;

use crate::{AvailableAgents, DelegationTable};

/// Why an agent is a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// It holds another subnet of the same company.
    Company,
    /// It holds a subnet directly below the ancestor reached.
    Sibling,
    /// It holds a subnet anywhere below the ancestor reached.
    SiblingChild,
    /// It holds nothing in this address family; the paper does not know such agents (they live in a
    /// subnet that another agent holds, or in the other family), and nobody is left out.
    Rest,
    /// It is the likeliest to be nearer (the predictive strategy).
    Predicted,
}

impl Phase {
    /// The word in JSON, tables and pages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Company => "company",
            Self::Sibling => "sibling",
            Self::SiblingChild => "sibling_child",
            Self::Rest => "rest",
            Self::Predicted => "predicted",
        }
    }

    /// The phase of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Company, Self::Sibling, Self::SiblingChild, Self::Rest, Self::Predicted];
        all.into_iter().find(|phase| phase.as_str() == word)
    }
}

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
