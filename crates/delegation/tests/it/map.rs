//! Small hierarchies for the tests.

use std::net::IpAddr;

use delegation::{Availability, AvailableAgents, Delegation, DelegationTable};
use hierarchy::{
    Builder, CompanyIndex, Generation, Hierarchy, Record, Registry, SubnetId, SubnetKind,
};
use model::{AgentId, Reason};

/// Builds a hierarchy of ranges with a company each; no company makes a block.
pub(crate) fn hierarchy(subnets: &[(&str, Option<&str>)]) -> Hierarchy {
    let mut companies = CompanyIndex::default();
    let mut builder = Builder::default();
    for (range, company) in subnets {
        builder.add(Record {
            range: range.parse().unwrap(),
            kind: if company.is_some() { SubnetKind::Delegated } else { SubnetKind::Block },
            registry: Some(Registry::RipeNcc),
            company: company.map(|handle| companies.number(Registry::RipeNcc, handle)),
            country: Some("CY".parse().unwrap()),
        });
    }
    builder.build(Generation::new(1), companies.into_companies()).0
}

pub(crate) fn agent(number: i64) -> AgentId {
    AgentId::new(number)
}

pub(crate) fn subnet(hierarchy: &Hierarchy, range: &str) -> SubnetId {
    hierarchy.find(&range.parse().unwrap()).unwrap()
}

pub(crate) fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// A delegation table in which each of these subnets was delegated to the agent of that number.
pub(crate) fn delegation_table(
    hierarchy: &Hierarchy,
    delegations: &[(&str, i64)],
) -> DelegationTable {
    let holding = |number| Delegation { agent: agent(number), reason: Reason::Threshold };
    DelegationTable::of(
        hierarchy,
        delegations.iter().map(|(range, number)| (subnet(hierarchy, range), holding(*number))),
    )
}

/// Agents that can be asked.
pub(crate) fn ready(agents: &[i64]) -> AvailableAgents {
    agents.iter().map(|number| (agent(*number), Availability::Ready)).collect()
}
