//! What registry data say of a subnet.

use hierarchy::{CompanyId, Country, Hierarchy, Registry, SubnetId};

/// Registry, country and company of a subnet, as far as they are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Levels {
    pub registry: Option<Registry>,
    pub country: Option<Country>,
    pub company: Option<CompanyId>,
}

impl Levels {
    /// The levels of a subnet.
    pub fn of(hierarchy: &Hierarchy, subnet: SubnetId) -> Self {
        let subnet = hierarchy.subnet(subnet);
        Self { registry: subnet.registry(), country: subnet.country(), company: subnet.company() }
    }
}
