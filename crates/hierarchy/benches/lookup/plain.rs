//! What one would write first: the same segments in a sorted list and in a `BTreeMap`.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use hierarchy::{Hierarchy, SubnetId};

pub(crate) struct Plain {
    sorted: Vec<(IpAddr, SubnetId)>,
    tree: BTreeMap<IpAddr, SubnetId>,
}

impl Plain {
    /// The segments of IPv4, found by asking at each address where something starts or has ended.
    pub(crate) fn of(hierarchy: &Hierarchy) -> Self {
        let mut starts: Vec<u32> = vec![];
        for subnet in hierarchy.iter().take_while(|subnet| subnet.range().is_v4()) {
            let (IpAddr::V4(first), IpAddr::V4(last)) = (subnet.range().first(), subnet.range().last())
            else {
                continue;
            };
            starts.push(first.to_bits());
            starts.extend(last.to_bits().checked_add(1));
        }
        starts.sort_unstable();
        starts.dedup();
        let owner = |start: u32| {
            let address = Ipv4Addr::from_bits(start).into();
            (address, hierarchy.smallest(address))
        };
        let mut sorted: Vec<_> = starts.into_iter().map(owner).collect();
        sorted.dedup_by_key(|(_, owner)| *owner);
        let tree = sorted.iter().copied().collect();
        Self { sorted, tree }
    }

    pub(crate) fn by_search(&self, address: IpAddr) -> SubnetId {
        let after = self.sorted.partition_point(|(start, _)| *start <= address);
        self.sorted[after - 1].1
    }

    pub(crate) fn by_tree(&self, address: IpAddr) -> SubnetId {
        *self.tree.range(..=address).next_back().unwrap().1
    }
}
