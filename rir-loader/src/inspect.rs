//! What a set of files says of an address or a range.

use std::fmt;
use std::net::IpAddr;

use hierarchy::{Hierarchy, Range, SubnetId};
use serde::Serialize;

use crate::read::Nested;

/// A subnet and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Link {
    /// First address.
    pub first: IpAddr,
    /// Last address.
    pub last: IpAddr,
    /// The same as a prefix, or as first and last.
    pub range: String,
    /// `root`, `block` or `delegated`.
    pub kind: &'static str,
    /// The registry's name for the holder.
    pub company: Option<String>,
    /// Two letters.
    pub country: Option<String>,
    /// Who maintains it.
    pub registry: Option<&'static str>,
    /// The file that says so; a root or a block is not in any.
    pub source: Option<String>,
}

/// The subnets around a range, root first; the last is the smallest that holds all of it.
pub fn chain(nested: &Nested, range: &Range) -> Vec<Link> {
    let hierarchy = &nested.hierarchy;
    let smallest = hierarchy.smallest_holding(range);
    let mut ids: Vec<SubnetId> = std::iter::once(smallest).chain(hierarchy.ancestors(smallest)).collect();
    ids.reverse();
    ids.into_iter().map(|id| link(nested, hierarchy, id)).collect()
}

fn link(nested: &Nested, hierarchy: &Hierarchy, id: SubnetId) -> Link {
    let subnet = hierarchy.subnet(id);
    let (range, company) = (subnet.range(), subnet.company().and_then(|id| hierarchy.company(id)));
    let delegated = subnet.kind() == hierarchy::SubnetKind::Delegated;
    let file = subnet.registry().filter(|_| delegated).and_then(|registry| nested.file_of(registry));
    Link {
        first: range.first(),
        last: range.last(),
        range: range.to_string(),
        kind: subnet.kind().as_str(),
        company: company.map(|company| company.handle.to_owned()),
        country: subnet.country().map(|country| country.to_string()),
        registry: subnet.registry().map(hierarchy::Registry::as_str),
        source: file.map(|path| path.display().to_string()),
    }
}

/// One line for a person.
impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_dash = |text: Option<&str>| text.unwrap_or("-").to_owned();
        let (registry, country) = (or_dash(self.registry), or_dash(self.country.as_deref()));
        let (company, source) = (or_dash(self.company.as_deref()), or_dash(self.source.as_deref()));
        write!(f, "{:<44} {:<9} {registry:<8} {country:<3} {company:<37} {source}", self.range, self.kind)
    }
}
