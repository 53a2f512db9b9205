//! The smallest subnet of an address in one or two reads of far memory: a trie whose strides follow
//! the data.
//!
//! The line of heads, flattened into [`segments`](crate::segments), is cut into about 2^14 equal
//! regions at most, few enough for their nodes to stay near the processor. A node cuts its stretch
//! into a power of two of equal parts. Where most of the line belongs to few, a part has a *slot*
//! that names the owner at once, in a table as that of DIR-24-8 (Gupta, Lin, McKeown 1998); a slot
//! in which several segments start has a short [list](lists) of them, or a node of its own. Where
//! the line is cut up everywhere, half of the slots would need a list: there parts are larger, and
//! each has a [`block`], one cache line that tells of its segments, or a node if they are too many.
//!
//! A head that is not told here is left to the columns, see [`crate::family`].

mod block;
mod build;
mod lists;
mod stride;
mod table;

use self::block::Block;
use self::lists::Lists;
use self::table::Table;
use crate::segments::UNTOLD;

/// A slot from here on has no single owner; the lower bits say where its list is.
const SEVERAL: u32 = 1 << 31;
/// With this bit, too: which node it has.
const DEEPER: u32 = 1 << 30;
/// The bits that say which or where.
const WHICH: u32 = DEEPER - 1;

/// A stretch cut into equal parts.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// Where the slots or blocks of its parts begin.
    parts: u32,
    /// A part spans `1 << shift` heads.
    shift: u8,
    /// There are `1 << bits` parts.
    bits: u8,
}

impl Node {
    /// Which slot or block has the head at this offset.
    #[inline]
    fn part(self, offset: u64) -> usize {
        let part = (offset >> self.shift) & !(u64::MAX << self.bits);
        self.parts as usize + part as usize
    }

    /// How far in its part this is.
    #[inline]
    fn within(self, offset: u64) -> u64 {
        offset & !(u64::MAX << self.shift)
    }
}

/// What the parts of regions have; those of nodes below have slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parts {
    Slots,
    Blocks,
}

#[derive(Debug, Clone)]
pub(crate) struct Trie {
    /// Where the first region begins. Up to there all is the root's, unless a subnet begins at 0.
    base: u64,
    /// Where the last segment starts, counted from `base`: behind that nothing changes.
    last: u64,
    /// A region spans `1 << shift` heads; 0 to 63.
    shift: u32,
    parts: Parts,
    /// Those of the regions in order, then those below.
    nodes: Vec<Node>,
    slots: Table<u32>,
    blocks: Table<Block>,
    lists: Lists,
}

impl Trie {
    /// The place of the smallest subnet that holds the addresses of this head; `None` where that is
    /// not told here.
    // Most lookups end here. Kept short, so that the processor has many of them under way while it
    // waits for memory.
    #[inline]
    pub(crate) fn owner(&self, head: u64) -> Option<usize> {
        let offset = head.saturating_sub(self.base).min(self.last);
        let node = *self.nodes.get((offset >> self.shift) as usize)?;
        if self.parts == Parts::Blocks {
            return self.by_block(node, offset);
        }
        let slot = *self.slots.get(node.part(offset))?;
        if slot < SEVERAL { told(slot) } else { self.several(node, slot, offset) }
    }

    // Apart, so that what it needs is not made ready for slots.
    #[inline(never)]
    fn by_block(&self, node: Node, offset: u64) -> Option<usize> {
        let slot = self.blocks.get(node.part(offset))?.tell(node.within(offset));
        if slot < SEVERAL { told(slot) } else { self.several(node, slot, offset) }
    }

    /// Goes on from a slot that has no single owner.
    #[inline(never)]
    fn several(&self, mut node: Node, mut slot: u32, offset: u64) -> Option<usize> {
        while slot >= SEVERAL {
            if slot & DEEPER == 0 {
                return self
                    .lists
                    .owner((slot & WHICH) as usize, node.within(offset))
                    .and_then(told);
            }
            node = *self.nodes.get((slot & WHICH) as usize)?;
            slot = *self.slots.get(node.part(offset))?;
        }
        told(slot)
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let tables = self.slots.heap_bytes() + self.blocks.heap_bytes() + self.lists.heap_bytes();
        self.nodes.capacity() * size_of::<Node>() + tables
    }
}

#[inline]
fn told(owner: u32) -> Option<usize> {
    (owner != UNTOLD).then_some(owner as usize)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    use proptest::prelude::*;

    use super::build::{Growing, WAYS};
    use crate::{Builder, Companies, Generation, Hierarchy, Range, Record, SubnetKind};

    /// Ranges of one size side by side, some with gaps: where they begin, how far apart, how long,
    /// how many.
    type AgentCounts = (u128, u128, u128, u128);

    /// From single addresses next to each other to blocks far apart, so that all kinds of slots and
    /// lists come up.
    fn crowd(bits: u32) -> impl Strategy<Value = AgentCounts> {
        let most = u128::MAX >> (u128::BITS - bits);
        let step =
            (0..bits).prop_map(|shift| 1_u128 << shift).prop_flat_map(|step| step..=2 * step - 1);
        (0..=most, step.clone(), step, 1_u128..80)
    }

    fn ends(crowds: &[AgentCounts], bits: u32) -> Vec<(u128, u128)> {
        let most = u128::MAX >> (u128::BITS - bits);
        let of = |(start, step, long, count): &AgentCounts| {
            let (start, step, long) = (*start, *step, *long);
            let all = (0..*count).map_while(move |number| {
                let first = number.checked_mul(step)?.checked_add(start)?;
                Some((first, first.checked_add(long - 1)?))
            });
            all.filter(move |(_, last)| *last <= most).collect::<Vec<_>>()
        };
        crowds.iter().flat_map(of).collect()
    }

    fn build(ends: &[(u128, u128)], address: fn(u128) -> IpAddr) -> Hierarchy {
        let mut builder = Builder::default();
        for (first, last) in ends {
            let range = Range::new(address(*first), address(*last)).unwrap();
            let kind = SubnetKind::Delegated;
            builder.add(Record { range, kind, registry: None, company: None, country: None });
        }
        builder.build(Generation::new(1), Companies::default()).0
    }

    fn v4(bits: u128) -> IpAddr {
        Ipv4Addr::from_bits(bits as u32).into()
    }

    fn v6(bits: u128) -> IpAddr {
        // Beside the IPv4-mapped addresses.
        Ipv6Addr::from_bits(bits | 1 << 127).into()
    }

    /// Both ends of each range and what lies beside them.
    fn probes(ends: &[(u128, u128)]) -> impl Iterator<Item = u128> {
        let around = |at: u128| [at.saturating_sub(1), at, at.saturating_add(1)];
        ends.iter().flat_map(move |(first, last)| around(*first).into_iter().chain(around(*last)))
    }

    proptest! {
        #[test]
        fn v4_is_told_as_the_columns_say(
            crowds in prop::collection::vec(crowd(32), 1..8),
            way in prop::sample::select(&WAYS),
        ) {
            let ends = ends(&crowds, 32);
            let hierarchy = build(&ends, v4);
            let (columns, parent) = (hierarchy.families().0, &hierarchy.columns().parent);
            let trie = Growing::cut(columns, way, usize::MAX).finish();
            for at in probes(&ends).filter(|at| *at <= u128::from(u32::MAX)) {
                let expected = columns.smallest(at as u32, |place| parent[place].index());
                prop_assert_eq!(hierarchy.smallest(v4(at)).index(), expected, "{}", v4(at));
                prop_assert_eq!(trie.owner(at as u64), Some(expected), "{}", v4(at));
            }
        }

        #[test]
        fn v6_is_told_as_the_columns_say(
            crowds in prop::collection::vec(crowd(127), 1..8),
            way in prop::sample::select(&WAYS),
        ) {
            let ends = ends(&crowds, 127);
            let hierarchy = build(&ends, v6);
            let (columns, parent) = (hierarchy.families().1, &hierarchy.columns().parent);
            let trie = Growing::cut(columns, way, usize::MAX).finish();
            for at in probes(&ends).filter(|at| *at < 1 << 127) {
                let IpAddr::V6(address) = v6(at) else { continue };
                let expected = columns.smallest(address.to_bits(), |place| parent[place + 1].index() - 1);
                prop_assert_eq!(hierarchy.smallest(v6(at)).index(), expected + 1, "{}", v6(at));
                let told = trie.owner((address.to_bits() >> 64) as u64);
                prop_assert!(told.is_none_or(|told| told == expected), "{}", v6(at));
            }
        }
    }
}
