//! Answers about an address, a range or a company.

use std::collections::HashSet;
use std::fmt;
use std::net::IpAddr;

use hierarchy::{Hierarchy, Range, Subnet, SubnetId, SubnetKind};
use serde::Serialize;

use crate::settle::normalize;
use crate::settle::readable;

/// A subnet and its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SubnetInfo {
    /// First address of the range.
    pub first: IpAddr,
    /// Last address, inclusive.
    pub last: IpAddr,
    /// The addresses as a prefix where they are one, else `first - last`.
    pub range: String,
    /// `root`, `block`, `delegated` or `virtual`.
    pub kind: &'static str,
    /// Name of the holder; the registry's handle where no name is known.
    pub company: Option<String>,
    /// The registry's handle of the holder, or one made from the attribute that identifies it.
    pub handle: Option<String>,
    /// Country, two letters.
    pub country: Option<String>,
    /// Registry that maintains the range.
    pub registry: Option<&'static str>,
    /// File of the range; `None` for a root or a block.
    pub source: Option<String>,
}

/// Finds the file of a range.
pub type FindSource<'s> = &'s dyn Fn(&Range) -> Option<String>;

/// The subnets that contain a range, root first.
pub fn chain(hierarchy: &Hierarchy, range: &Range, source: FindSource<'_>) -> Vec<SubnetInfo> {
    let smallest = hierarchy.smallest_holding(range);
    let mut ids: Vec<SubnetId> = hierarchy.ancestors(smallest).collect();
    ids.reverse();
    ids.push(smallest);
    ids.into_iter().map(|id| info(hierarchy, id, source)).collect()
}

/// The subnets of the companies with this handle or name, in order. Case and punctuation do not
/// matter.
pub fn holdings(hierarchy: &Hierarchy, company: &str, source: FindSource<'_>) -> Vec<SubnetInfo> {
    let wanted = normalize(company);
    let mut companies = HashSet::new();
    for (id, company) in hierarchy.companies().iter() {
        let mut names = [Some(company.handle), company.name].into_iter().flatten();
        if names.any(|name| normalize(readable(name)) == wanted) {
            companies.insert(id);
        }
    }
    let is_held = |subnet: &Subnet<'_>| subnet.company().is_some_and(|id| companies.contains(&id));
    let held = hierarchy.iter().filter(is_held);
    held.map(|subnet| info(hierarchy, subnet.id(), source)).collect()
}

/// Name of the holder of a subnet; the registry's handle where no name is known.
pub fn company_name(hierarchy: &Hierarchy, subnet: &Subnet<'_>) -> Option<String> {
    let company = hierarchy.company(subnet.company()?)?;
    Some(company.name.unwrap_or_else(|| readable(company.handle)).to_owned())
}

fn info(hierarchy: &Hierarchy, id: SubnetId, source: FindSource<'_>) -> SubnetInfo {
    let subnet = hierarchy.subnet(id);
    let range = subnet.range();
    let company = subnet.company().and_then(|id| hierarchy.company(id));
    let is_delegated = subnet.kind() == SubnetKind::Delegated;
    SubnetInfo {
        first: range.first(),
        last: range.last(),
        range: range.to_string(),
        kind: subnet.kind().as_str(),
        company: company_name(hierarchy, &subnet),
        handle: company.map(|company| company.handle.to_owned()),
        country: subnet.country().map(|country| country.to_string()),
        registry: subnet.registry().map(hierarchy::Registry::as_str),
        source: is_delegated.then(|| source(&range)).flatten(),
    }
}

impl fmt::Display for SubnetInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let registry = self.registry.unwrap_or("-");
        let country = self.country.as_deref().unwrap_or("-");
        let company = self.company.as_deref().unwrap_or("-");
        let source = self.source.as_deref().unwrap_or("-");
        write!(
            f,
            "{:<44} {:<9} {registry:<8} {country:<3} {company:<37} {source}",
            self.range, self.kind
        )
    }
}
