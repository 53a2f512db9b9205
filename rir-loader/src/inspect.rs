//! What is known of an address, a range or a company.

use std::fmt;
use std::net::IpAddr;

use hierarchy::{Hierarchy, Range, Subnet, SubnetId, SubnetKind};
use serde::Serialize;

use crate::read::Nested;
use crate::settle::holder::readable;
use crate::settle::normal::normal;

/// A subnet and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Link {
    /// First address.
    pub first: IpAddr,
    /// Last address.
    pub last: IpAddr,
    /// The same as a prefix, or as first and last.
    pub range: String,
    /// `root`, `block`, `delegated`, or `virtual`: a part cut out of a large range.
    pub kind: &'static str,
    /// The holder's name; the registry's handle for it where no name is known.
    pub company: Option<String>,
    /// The registry's handle for the holder, or one made of what names it.
    pub handle: Option<String>,
    /// Two letters.
    pub country: Option<String>,
    /// Who maintains it.
    pub registry: Option<&'static str>,
    /// The file that says so; a root or a block is not in any.
    pub source: Option<String>,
}

/// The subnets around a range, root first; the last is the smallest that holds all of it.
pub fn chain(nested: &Nested, range: &Range) -> Vec<Link> {
    chain_in(&nested.hierarchy, range, &|range| nested.file_of(range))
}

/// [`chain`] in any hierarchy; `source` says where a range is from.
pub fn chain_in(hierarchy: &Hierarchy, range: &Range, source: Source<'_>) -> Vec<Link> {
    let smallest = hierarchy.smallest_holding(range);
    let mut ids: Vec<SubnetId> =
        std::iter::once(smallest).chain(hierarchy.ancestors(smallest)).collect();
    ids.reverse();
    ids.into_iter().map(|id| link(hierarchy, id, source)).collect()
}

/// Says where a range is from.
pub type Source<'s> = &'s dyn Fn(&Range) -> Option<String>;

/// What the companies hold whose handle or name is this one, in order; letter case and punctuation
/// do not matter.
pub fn holdings(hierarchy: &Hierarchy, company: &str, source: Source<'_>) -> Vec<Link> {
    let wanted = normal(company);
    let is_it = |text: &str| normal(readable(text)) == wanted;
    let all = hierarchy.companies().iter();
    let found = all.filter(|(_, company)| is_it(company.handle) || company.name.is_some_and(is_it));
    let mut ids: Vec<SubnetId> =
        found.flat_map(|(id, _)| hierarchy.company_subnets(id)).copied().collect();
    ids.sort_unstable();
    ids.into_iter().map(|id| link(hierarchy, id, source)).collect()
}

/// What people call the holder of a subnet.
pub fn company_name(hierarchy: &Hierarchy, subnet: &Subnet<'_>) -> Option<String> {
    let company = hierarchy.company(subnet.company()?)?;
    Some(company.name.unwrap_or_else(|| readable(company.handle)).to_owned())
}

fn link(hierarchy: &Hierarchy, id: SubnetId, source: Source<'_>) -> Link {
    let subnet = hierarchy.subnet(id);
    let range = subnet.range();
    let handle = subnet
        .company()
        .and_then(|id| hierarchy.company(id))
        .map(|company| company.handle.to_owned());
    let delegated = subnet.kind() == SubnetKind::Delegated;
    Link {
        first: range.first(),
        last: range.last(),
        range: range.to_string(),
        kind: subnet.kind_word(),
        company: company_name(hierarchy, &subnet),
        handle,
        country: subnet.country().map(|country| country.to_string()),
        registry: subnet.registry().map(hierarchy::Registry::as_str),
        source: delegated.then(|| source(&range)).flatten(),
    }
}

/// One line for a person.
impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_dash = |text: Option<&str>| text.unwrap_or("-").to_owned();
        let (registry, country) = (or_dash(self.registry), or_dash(self.country.as_deref()));
        let (company, source) = (or_dash(self.company.as_deref()), or_dash(self.source.as_deref()));
        write!(
            f,
            "{:<44} {:<9} {registry:<8} {country:<3} {company:<37} {source}",
            self.range, self.kind
        )
    }
}
