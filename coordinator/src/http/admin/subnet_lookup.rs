//! Here is a subnet: what does the loaded hierarchy say of it?

use hierarchy::Registry;
use std::collections::HashMap;
use std::net::IpAddr;

use hierarchy::{Hierarchy, Range, Subnet, SubnetId};
use model::AgentId;
use store::{Store, lists};

use crate::http::admin::dto::{AgentRef, ChainLink};
use crate::http::problem::Problem;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// What the hierarchy says of a subnet; all none when it does not know it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ground {
    /// Registry that handed it out.
    pub registry: Option<Registry>,
    /// Two-letter country.
    pub country: Option<String>,
    /// Name of its company, else the handle that the registry gives.
    pub company: Option<String>,
}

impl Ground {
    /// Of exactly this range.
    pub fn of_range(delegated: Option<&DelegatedHierarchy>, range: &Range) -> Self {
        let found = delegated.and_then(|delegated| {
            Some((delegated.hierarchy(), delegated.hierarchy().find(range)?))
        });
        found.map(|(hierarchy, id)| Self::of(hierarchy, hierarchy.subnet(id))).unwrap_or_default()
    }

    /// Of the smallest subnet around an address.
    pub fn of_address(delegated: Option<&DelegatedHierarchy>, address: IpAddr) -> Self {
        let hierarchy = delegated.map(DelegatedHierarchy::hierarchy);
        let subnet = hierarchy
            .map(|hierarchy| Self::of(hierarchy, hierarchy.subnet(hierarchy.smallest(address))));
        subnet.unwrap_or_default()
    }

    fn of(hierarchy: &Hierarchy, subnet: Subnet<'_>) -> Self {
        Self {
            registry: subnet.registry(),
            country: subnet.country().map(|country| country.as_str().to_owned()),
            company: company(hierarchy, subnet),
        }
    }
}

fn company(hierarchy: &Hierarchy, subnet: Subnet<'_>) -> Option<String> {
    let company = hierarchy.company(subnet.company()?)?;
    Some(company.name.unwrap_or(company.handle).to_owned())
}

/// The way from the root to `subnet`, root first, with who holds what now.
pub async fn chain(
    store: &Store,
    delegated: &DelegatedHierarchy,
    subnet: SubnetId,
) -> Result<Vec<ChainLink>, Problem> {
    let hierarchy = delegated.hierarchy();
    let mut ids: Vec<SubnetId> =
        std::iter::once(subnet).chain(hierarchy.ancestors(subnet)).collect();
    ids.reverse();
    let held: HashMap<SubnetId, AgentId> = {
        let delegation_table = delegated.delegation_table();
        ids.iter().filter_map(|id| Some((*id, delegation_table.agent_of(*id)?))).collect()
    };
    let holders: Vec<AgentId> = held.values().copied().collect();
    let names = lists::names(store, &holders).await?;
    let link = |id: SubnetId| {
        let subnet = hierarchy.subnet(id);
        let Ground { registry, country, company } = Ground::of(hierarchy, subnet);
        let holder =
            held.get(&id).and_then(|id| Some(AgentRef { id: *id, name: names.get(id)?.clone() }));
        let kind = subnet.into();
        ChainLink {
            subnet: subnet.range().to_string(),
            kind,
            company,
            country,
            registry,
            delegated_to: holder,
        }
    };
    Ok(ids.into_iter().map(link).collect())
}

/// 409 while there is no hierarchy.
pub fn no_hierarchy() -> Problem {
    Problem::conflict("No registry data is loaded yet; run rir-loader load.")
}
