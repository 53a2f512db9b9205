//! Attributes of all subnets as flat columns, IPv4 first.

use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::attributes::Attributes;
use crate::id::{CompanyId, SubnetId};
use crate::nest::Nodes;

/// The company of a subnet in four bytes: zero for none, else one more than the company's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(transparent)]
pub(crate) struct Holder(u32);

impl Holder {
    fn new(company: Option<CompanyId>) -> Self {
        Self(company.map_or(0, |company| company.get() + 1))
    }

    pub(crate) fn company(self) -> Option<CompanyId> {
        self.0.checked_sub(1).map(CompanyId::new)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Columns {
    /// The smallest subnet around each; a root is its own parent.
    pub(crate) parent: Vec<SubnetId>,
    pub(crate) holder: Vec<Holder>,
    pub(crate) attributes: Vec<Attributes>,
}

impl Columns {
    /// Appends the IPv6 nodes to the IPv4 nodes. Companies that do not exist are dropped, so that
    /// every stored id can be looked up.
    pub(crate) fn join(v4: Nodes<u32>, v6: Nodes<u128>, companies: usize) -> Self {
        let root = v4.parent.len() as u32;
        let mut parent = v4.parent;
        parent.extend(v6.parent.iter().map(|parent| SubnetId::new(root + parent.get())));
        parent.shrink_to_fit();
        let mut attributes = v4.attributes;
        attributes.extend(v6.attributes);
        attributes.shrink_to_fit();
        let exists = |company: &CompanyId| company.index() < companies;
        let all = v4.company.iter().chain(&v6.company);
        let holder = all.map(|company| Holder::new(company.filter(exists))).collect();
        Self { parent, holder, attributes }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.parent.capacity() * size_of::<SubnetId>()
            + self.holder.capacity() * size_of::<Holder>()
            + self.attributes.capacity() * size_of::<Attributes>()
    }
}
