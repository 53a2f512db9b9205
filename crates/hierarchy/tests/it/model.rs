//! Naive model: a list of ranges; each query looks at all of them.

use std::net::IpAddr;

use hierarchy::{Hierarchy, Range, SubnetId};

pub(crate) struct Model {
    /// In the order of the hierarchy's ids.
    pub(crate) ranges: Vec<Range>,
}

impl Model {
    pub(crate) fn of(hierarchy: &Hierarchy) -> Self {
        Self { ranges: hierarchy.iter().map(|subnet| subnet.range()).collect() }
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = SubnetId> + use<> {
        (0..self.ranges.len() as u32).map(SubnetId::new)
    }

    fn range(&self, id: SubnetId) -> &Range {
        &self.ranges[id.get() as usize]
    }

    /// The range with the fewest addresses that holds the address.
    pub(crate) fn smallest(&self, address: IpAddr) -> SubnetId {
        let canonical = address.to_canonical();
        let holding = self.ids().filter(|id| self.range(*id).contains(canonical));
        holding.min_by_key(|id| self.range(*id).addresses()).unwrap()
    }

    pub(crate) fn ancestors(&self, id: SubnetId) -> Vec<SubnetId> {
        let around =
            |other: &SubnetId| *other != id && self.range(*other).contains_range(self.range(id));
        let mut ancestors: Vec<_> = self.ids().filter(around).collect();
        ancestors.sort_by_key(|other| self.range(*other).addresses());
        ancestors
    }

    pub(crate) fn parent(&self, id: SubnetId) -> Option<SubnetId> {
        self.ancestors(id).first().copied()
    }

    pub(crate) fn children(&self, id: SubnetId) -> Vec<SubnetId> {
        self.ids().filter(|other| self.parent(*other) == Some(id)).collect()
    }
}
