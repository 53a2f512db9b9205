//! What the loaded hierarchy knows about a subnet or an address.

use std::collections::HashMap;
use std::net::IpAddr;

use hierarchy::{Hierarchy, Range, Registry, Subnet, SubnetId};
use model::AgentId;
use store::{Store, agents};

use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::delegations::ChainLink;
use crate::http::problem::Problem;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// Registry, country and company of a subnet; all none when the hierarchy does not know it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubnetInfo {
    /// Registry that handed it out.
    pub registry: Option<Registry>,
    /// ISO 3166-1 country of the registration.
    pub country: Option<String>,
    /// Name of its company, or the registry's handle where the company has no name.
    pub company: Option<String>,
}

/// The range that a parameter names.
pub fn range_parameter(field: &str, text: &str) -> Result<Range, Problem> {
    text.trim().parse().map_err(|_| {
        let rule = "not an address, a CIDR such as 41.0.0.0/16, or a range `first - last`";
        Problem::bad_parameter(field, rule)
    })
}

impl SubnetInfo {
    /// Looks up the subnet that has exactly this range.
    pub fn of_range(delegated: Option<&DelegatedHierarchy>, range: &Range) -> Self {
        let found = delegated.and_then(|delegated| {
            Some((delegated.hierarchy(), delegated.hierarchy().find(range)?))
        });
        found.map(|(hierarchy, id)| Self::of(hierarchy, hierarchy.subnet(id))).unwrap_or_default()
    }

    /// Looks up the smallest subnet around an address.
    pub fn of_address(delegated: Option<&DelegatedHierarchy>, address: IpAddr) -> Self {
        let hierarchy = delegated.map(DelegatedHierarchy::hierarchy);
        let subnet = hierarchy
            .map(|hierarchy| Self::of(hierarchy, hierarchy.subnet(hierarchy.smallest(address))));
        subnet.unwrap_or_default()
    }

    fn of(hierarchy: &Hierarchy, subnet: Subnet<'_>) -> Self {
        let company = subnet.company().and_then(|id| hierarchy.company(id));
        Self {
            registry: subnet.registry(),
            country: subnet.country().map(|country| country.as_str().to_owned()),
            company: company.map(|company| company.name.unwrap_or(company.handle).to_owned()),
        }
    }
}

/// The path from the root to `subnet`, root first, with the present agent of each level.
pub async fn chain(
    store: &Store,
    delegated: &DelegatedHierarchy,
    subnet: SubnetId,
) -> Result<Vec<ChainLink>, Problem> {
    let hierarchy = delegated.hierarchy();
    let mut ids: Vec<SubnetId> =
        std::iter::once(subnet).chain(hierarchy.ancestors(subnet)).collect();
    ids.reverse();
    // The lock of the table is released before the database is asked for names.
    let held: HashMap<SubnetId, AgentId> = {
        let delegation_table = delegated.delegation_table();
        ids.iter().filter_map(|id| Some((*id, delegation_table.agent_of(*id)?))).collect()
    };
    let holders: Vec<AgentId> = held.values().copied().collect();
    let names = agents::names(store, &holders).await?;
    let link = |id: SubnetId| {
        let subnet = hierarchy.subnet(id);
        let SubnetInfo { registry, country, company } = SubnetInfo::of(hierarchy, subnet);
        let holder =
            held.get(&id).and_then(|id| Some(AgentRef { id: *id, name: names.get(id)?.clone() }));
        ChainLink {
            subnet: subnet.range().to_string(),
            kind: subnet.kind(),
            company,
            country,
            registry,
            delegated_to: holder,
        }
    };
    Ok(ids.into_iter().map(link).collect())
}

/// 409 while no hierarchy is loaded.
pub fn no_hierarchy() -> Problem {
    Problem::conflict("No registry data is loaded yet; run rir-loader load.")
}
