//! Unregistered space: the subnet of a host that no registry's record holds.
//!
//! Such a host gets a virtual subnet: the prefix of a fixed length around its address, without the
//! parts that other subnets have. Roots and blocks are not delegated, so the host would have no
//! agent otherwise, and a whole root must not go to one agent because of one host.

use std::iter;
use std::net::IpAddr;

use ipnet::IpNet;

use crate::address::{after, before};
use crate::id::{Generation, SubnetId};
use crate::range::Range;
use crate::record::{Record, SubnetKind};
use crate::special_purpose::{Class, classify, classify_range};
use crate::tree::Hierarchy;

/// Lengths of the prefixes that become virtual subnets in unregistered space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrefixLengths {
    /// Length for IPv4.
    pub v4: u8,
    /// Length for IPv6.
    pub v6: u8,
}

/// The subnet that a host belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostSubnet {
    /// The smallest subnet around the address that may be delegated.
    Known(SubnetId),
    /// A range of unregistered space that is to become a virtual subnet
    /// ([`Hierarchy::with_unregistered`]).
    Unregistered(Range),
    /// None: the address is no part of the public internet, and no registry record inside its
    /// special-purpose block holds it.
    SpecialPurpose(Class),
}

impl Hierarchy {
    /// The subnet that a host at this address belongs to.
    pub fn host_subnet(&self, address: IpAddr, lengths: PrefixLengths) -> HostSubnet {
        let address = address.to_canonical();
        let class = classify(address);
        let known = self.smallest_delegable(address);
        match (known, class) {
            (Some(id), Class::Public) => HostSubnet::Known(id),
            // A wide record around a special-purpose block says nothing about the block.
            (Some(id), _) if classify_range(&self.subnet(id).range()) != Class::Public => {
                HostSubnet::Known(id)
            }
            (None, Class::Public) => HostSubnet::Unregistered(self.unregistered(address, lengths)),
            (_, class) => HostSubnet::SpecialPurpose(class),
        }
    }

    /// A copy of this generation with the unregistered parts of these ranges as virtual subnets;
    /// `None` where nothing is to be added.
    pub fn with_unregistered(&self, generation: Generation, ranges: &[Range]) -> Option<Self> {
        let mut parts: Vec<Range> =
            ranges.iter().flat_map(|range| self.free_parts(range)).collect();
        // Two ranges overlap after the prefix length was changed; the wider one then counts.
        parts.sort_unstable();
        parts.dedup_by(|later, earlier| earlier.last() >= later.first());
        let record = |range| Record {
            range,
            kind: SubnetKind::Virtual,
            registry: None,
            company: None,
            country: None,
        };
        (!parts.is_empty()).then(|| self.with_records(generation, parts.into_iter().map(record)))
    }

    /// The unregistered addresses around `address` up to the ends of its prefix.
    fn unregistered(&self, address: IpAddr, lengths: PrefixLengths) -> Range {
        let length = if address.is_ipv4() { lengths.v4 } else { lengths.v6 };
        // A length that is too large leaves the address alone.
        let Ok(prefix) = IpNet::new(address, length) else { return Range::from(address) };
        let free = self.free_around(address);
        let first = free.first().max(prefix.network());
        let last = free.last().min(prefix.broadcast());
        Range::new(first, last).unwrap_or(free)
    }

    /// The parts of a range in which only blocks and roots lie, in order.
    fn free_parts(&self, range: &Range) -> Vec<Range> {
        let mut parts = vec![];
        let mut next = Some(range.first());
        while let Some(first) = next.filter(|first| *first <= range.last()) {
            let smallest = self.smallest_holding(&Range::from(first));
            let end = if let Some(delegable) = self.delegable_around(smallest) {
                self.subnet(delegable).range().last()
            } else {
                let end = self.free_around(first).last();
                parts.extend(Range::new(first, end.min(range.last())));
                end
            };
            next = after(end);
        }
        parts
    }

    /// The addresses around `address` up to the ends of the smallest subnet that holds it, and up
    /// to the neighbours inside that subnet. In pre-order the neighbours of an address are the last
    /// subnet that begins at or before it, and the first that begins after it.
    fn free_around(&self, address: IpAddr) -> Range {
        let smallest = self.smallest_holding(&Range::from(address));
        let outer = self.subnet(smallest).range();
        let next = self.first_after(address);
        let next_range = self.get(next).map(|next| next.range());
        let next_inside = next_range.filter(|next| outer.contains_range(next));
        let last = next_inside.and_then(|next| before(next.first()));
        // The last subnet that begins before the address may lie deeper than the children of the
        // smallest subnet. The child that contains it is the neighbour, and ends before the
        // address.
        let begun = SubnetId::new(next.get() - 1);
        let to_smallest =
            iter::once(begun).chain(self.ancestors(begun)).take_while(|id| *id != smallest);
        let child = to_smallest.last();
        let first = child.and_then(|child| after(self.subnet(child).range().last()));
        let first = first.unwrap_or(outer.first());
        Range::new(first, last.unwrap_or(outer.last())).unwrap_or(outer)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Builder, Companies};

    const LENGTHS: PrefixLengths = PrefixLengths { v4: 22, v6: 44 };

    fn hierarchy(subnets: &[(&str, SubnetKind)]) -> Hierarchy {
        let mut builder = Builder::default();
        for (range, kind) in subnets {
            builder.add(Record {
                range: range.parse().unwrap(),
                kind: *kind,
                registry: None,
                company: None,
                country: None,
            });
        }
        builder.build(Generation::new(1), Companies::default()).0
    }

    fn found(hierarchy: &Hierarchy, address: &str) -> HostSubnet {
        hierarchy.host_subnet(address.parse().unwrap(), LENGTHS)
    }

    fn unregistered(range: &str) -> HostSubnet {
        HostSubnet::Unregistered(range.parse().unwrap())
    }

    #[test]
    fn blocks_and_roots_are_no_subnet_of_a_host() {
        let delegated = ("41.0.1.128/25", SubnetKind::Delegated);
        let hierarchy = hierarchy(&[("41.0.0.0/8", SubnetKind::Block), delegated]);
        assert_eq!(found(&hierarchy, "41.0.0.1"), unregistered("41.0.0.0 - 41.0.1.127"));
        assert_eq!(found(&hierarchy, "41.0.1.127"), unregistered("41.0.0.0 - 41.0.1.127"));
        assert_eq!(found(&hierarchy, "41.0.2.0"), unregistered("41.0.2.0 - 41.0.3.255"));
        assert_eq!(found(&hierarchy, "::ffff:41.0.2.0"), unregistered("41.0.2.0 - 41.0.3.255"));
        assert_eq!(found(&hierarchy, "42.1.2.3"), unregistered("42.1.0.0/22"));
        assert_eq!(found(&hierarchy, "2a00:1:2:3::4"), unregistered("2a00:1::/44"));
        let known = hierarchy.find(&delegated.0.parse().unwrap()).unwrap();
        assert_eq!(found(&hierarchy, "41.0.1.200"), HostSubnet::Known(known));
    }

    #[test]
    fn a_block_inside_a_record_belongs_to_the_record() {
        let subnets = [("41.0.0.0/12", SubnetKind::Delegated), ("41.0.0.0/16", SubnetKind::Block)];
        let hierarchy = hierarchy(&subnets);
        let record = hierarchy.find(&"41.0.0.0/12".parse().unwrap()).unwrap();
        assert_eq!(found(&hierarchy, "41.0.7.1"), HostSubnet::Known(record));
        assert!(
            hierarchy
                .with_unregistered(Generation::new(1), &["41.0.4.0/22".parse().unwrap()])
                .is_none()
        );
    }

    #[test]
    fn special_purpose_addresses_have_a_subnet_only_by_a_record_of_their_own() {
        let hierarchy = hierarchy(&[
            ("192.0.0.0/8", SubnetKind::Delegated),
            ("127.0.0.0 - 127.0.0.7", SubnetKind::Delegated),
        ]);
        let home = hierarchy.find(&"127.0.0.0/29".parse().unwrap()).unwrap();
        assert_eq!(found(&hierarchy, "127.0.0.3"), HostSubnet::Known(home));
        for (address, class) in [
            ("127.0.0.8", Class::Loopback),
            ("10.1.2.3", Class::Private),
            ("192.168.1.1", Class::Private),
            ("169.254.169.254", Class::LinkLocal),
            ("::1", Class::Loopback),
            ("fe80::1", Class::LinkLocal),
            ("::ffff:10.0.0.1", Class::Private),
        ] {
            assert_eq!(found(&hierarchy, address), HostSubnet::SpecialPurpose(class), "{address}");
        }
    }

    #[test]
    fn a_range_is_kept_and_makes_room_for_what_a_registry_records_later() {
        let range: Range = "41.0.0.0/22".parse().unwrap();
        let old = hierarchy(&[("41.0.0.0/8", SubnetKind::Block)]);
        let new = old.with_unregistered(Generation::new(1), &[range]).unwrap();
        assert_ne!(old.numbering(), new.numbering());
        let id = new.find(&range).unwrap();
        assert_eq!(new.subnet(id).kind(), SubnetKind::Virtual);
        assert_eq!(found(&new, "41.0.3.9"), HostSubnet::Known(id));
        assert!(new.with_unregistered(Generation::new(1), &[range]).is_none(), "it is there");
        let later = hierarchy(&[("41.0.1.0/24", SubnetKind::Delegated)]);
        let later = later.with_unregistered(Generation::new(2), &[range, range]).unwrap();
        let mut kinds = later.iter().skip(1).map(|s| (s.range().to_string(), s.kind()));
        assert_eq!(kinds.next().unwrap(), ("41.0.0.0/24".to_owned(), SubnetKind::Virtual));
        assert_eq!(kinds.next().unwrap(), ("41.0.1.0/24".to_owned(), SubnetKind::Delegated));
        assert_eq!(kinds.next().unwrap(), ("41.0.2.0/23".to_owned(), SubnetKind::Virtual));
    }

    proptest! {
        /// The virtual subnet of an address holds the address, lies in its prefix, and shares no
        /// address with a subnet that may be delegated.
        #[test]
        fn virtual_subnets_are_free(
            records in prop::collection::vec((0_u32..1 << 13, 0_u32..600, any::<bool>()), 0..12),
            at in 0_u32..1 << 13,
        ) {
            let base = u32::from_be_bytes([41, 0, 0, 0]);
            let mut builder = Builder::default();
            for (first, size, is_block) in records {
                let kind = if is_block { SubnetKind::Block } else { SubnetKind::Delegated };
                let range = Range::of_numbers(base + first, base + first + size);
                builder.add(Record { range, kind, registry: None, company: None, country: None });
            }
            let hierarchy = builder.build(Generation::new(1), Companies::default()).0;
            let address = IpAddr::V4((base + at).into());
            match hierarchy.host_subnet(address, LENGTHS) {
                HostSubnet::Known(id) => prop_assert!(hierarchy.subnet(id).may_be_delegated()),
                HostSubnet::SpecialPurpose(class) => prop_assert!(false, "{class}"),
                HostSubnet::Unregistered(range) => {
                    prop_assert!(range.contains(address) && range.addresses() <= 1 << 10);
                    let inside = (base..base + (1 << 14)).map(|bits| IpAddr::V4(bits.into()));
                    for inside in inside.filter(|inside| range.contains(*inside)) {
                        prop_assert_eq!(hierarchy.smallest_delegable(inside), None);
                    }
                    let added = hierarchy.with_unregistered(Generation::new(1), &[range]).unwrap();
                    // The range may be exactly that of a block, which it then replaces.
                    prop_assert!(added.find_delegable(&range).is_some());
                    prop_assert!(added.len() <= hierarchy.len() + 1);
                }
            }
        }
    }
}
