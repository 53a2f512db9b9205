//! Which subnets somebody means: those in a range, those of a company, those of a country.

use std::fmt;

use crate::country::Country;
use crate::id::SubnetId;
use crate::range::Range;
use crate::record::SubnetKind;
use crate::registry::Registry;
use crate::tree::Hierarchy;

/// A part of the hierarchy that keeps its meaning in other generations.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Every subnet that lies wholly in the range, itself included.
    Range(Range),
    /// Every subnet that the company holds.
    Company {
        /// The registry that knows it.
        registry: Registry,
        /// Its handle there.
        handle: String,
    },
    /// Every subnet that is registered in the country.
    Country(Country),
}

impl Scope {
    /// Whether the subnet is meant. Roots and blocks never are: nobody holds them.
    pub fn covers(&self, hierarchy: &Hierarchy, subnet: SubnetId) -> bool {
        let subnet = hierarchy.subnet(subnet);
        if subnet.kind() != SubnetKind::Delegated {
            return false;
        }
        match self {
            Self::Range(range) => range.contains_range(&subnet.range()),
            Self::Company { registry, handle } => {
                let holder = subnet.company().and_then(|company| hierarchy.company(company));
                holder.is_some_and(|holder| holder.registry == *registry && holder.handle == handle)
            }
            Self::Country(country) => subnet.country() == Some(*country),
        }
    }

    /// Whether this generation has any such subnet. Reads the hierarchy through where there is
    /// none.
    pub fn is_known(&self, hierarchy: &Hierarchy) -> bool {
        match self {
            Self::Range(range) => hierarchy.inside(range).next().is_some(),
            Self::Company { .. } | Self::Country(_) => {
                hierarchy.iter().any(|subnet| self.covers(hierarchy, subnet.id()))
            }
        }
    }

    /// The narrower of two scopes has the smaller number: a small range before a large one, ranges
    /// before companies, companies before countries.
    pub fn breadth(&self) -> (u8, u128) {
        match self {
            Self::Range(range) => (0, range.addresses()),
            Self::Company { .. } => (1, 0),
            Self::Country(_) => (2, 0),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(range) => write!(f, "{range}"),
            Self::Company { registry, handle } => write!(f, "the subnets of {handle} ({registry})"),
            Self::Country(country) => write!(f, "the subnets in {country}"),
        }
    }
}
