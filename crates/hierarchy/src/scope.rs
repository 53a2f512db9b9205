//! Scope: the subnets in a range, of a company or of a country.

use std::fmt;

use crate::country::Country;
use crate::id::SubnetId;
use crate::range::Range;
use crate::registry::Registry;
use crate::tree::Hierarchy;

/// A set of subnets that has the same meaning in every generation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Every subnet that lies wholly in the range, including the range itself.
    Range(Range),
    /// Every subnet that the company holds.
    Company {
        /// The registry that assigned the handle.
        registry: Registry,
        /// Identifier of the company within the registry.
        handle: String,
    },
    /// Every subnet that is registered in the country.
    Country(Country),
}

impl Scope {
    /// Whether the subnet belongs to the scope. Only subnets that may be delegated do.
    pub fn covers(&self, hierarchy: &Hierarchy, subnet: SubnetId) -> bool {
        let subnet = hierarchy.subnet(subnet);
        if !subnet.may_be_delegated() {
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

    /// The subnets of the scope. Takes time in proportion to the hierarchy for a company or a
    /// country.
    pub fn subnets<'a>(
        &'a self,
        hierarchy: &'a Hierarchy,
    ) -> Box<dyn Iterator<Item = SubnetId> + 'a> {
        let candidates: Box<dyn Iterator<Item = SubnetId>> = match self {
            Self::Range(range) => {
                let subnets = hierarchy.beginning_in(range);
                Box::new((subnets.start.get()..subnets.end.get()).map(SubnetId::new))
            }
            Self::Company { .. } | Self::Country(_) => {
                Box::new(hierarchy.iter().map(|subnet| subnet.id()))
            }
        };
        Box::new(candidates.filter(|subnet| self.covers(hierarchy, *subnet)))
    }

    /// Whether this generation has a subnet of the scope. Takes time in proportion to the hierarchy
    /// for a company or country.
    pub fn is_known(&self, hierarchy: &Hierarchy) -> bool {
        self.subnets(hierarchy).next().is_some()
    }

    /// Sort key with the narrowest scope first: small ranges before large ones, ranges before
    /// companies, companies before countries.
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
