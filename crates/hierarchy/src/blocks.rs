//! Blocks: neighbours grouped into stretches of address space, so that a flat list of delegations
//! becomes a tree.
//!
//! Registries receive and hand out space in aligned stretches (RFC 7020), and what lies in one
//! stretch was mostly given out by the same office in the same years. A block never cuts a record:
//! where a record reaches over the edge of a stretch, the block begins after it or ends before it.

use crate::address::Address;
use crate::attributes::Attributes;
use crate::nest::Pending;
use crate::record::SubnetKind;
use crate::registry::Registry;

/// One level of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockLevel {
    /// Length of the prefix that the records of a block share.
    pub prefix: u8,
    /// A block with fewer records than this is not made.
    pub least: usize,
}

/// The blocks of one level around sorted ranges.
pub(crate) fn blocks<A: Address>(sorted: &[Pending<A>], level: BlockLevel) -> Vec<Pending<A>> {
    let mut blocks = Blocks { level, open: None, covered: None, made: vec![] };
    for clump in Clumps(sorted) {
        blocks.take(&clump);
    }
    blocks.close(None);
    blocks.made
}

/// What is known of the registry of several records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shared {
    One(Registry),
    None,
}

impl Shared {
    fn of(registry: Option<Registry>) -> Self {
        registry.map_or(Self::None, Self::One)
    }

    fn and(self, other: Self) -> Self {
        if self == other { self } else { Self::None }
    }

    fn registry(self) -> Option<Registry> {
        match self {
            Self::One(registry) => Some(registry),
            Self::None => None,
        }
    }
}

/// Records that overlap, taken together.
struct Clump<A> {
    first: A,
    last: A,
    records: usize,
    registry: Shared,
}

/// Cuts sorted ranges into clumps.
struct Clumps<'r, A>(&'r [Pending<A>]);

impl<A: Address> Iterator for Clumps<'_, A> {
    type Item = Clump<A>;

    fn next(&mut self) -> Option<Clump<A>> {
        let (head, rest) = self.0.split_first()?;
        let registry = Shared::of(head.attributes.registry());
        let mut clump = Clump { first: head.first, last: head.last, records: 1, registry };
        let inside = rest.iter().take_while(|range| {
            let overlaps = range.first <= clump.last;
            if overlaps {
                clump.last = clump.last.max(range.last);
                clump.registry = clump.registry.and(Shared::of(range.attributes.registry()));
            }
            overlaps
        });
        clump.records += inside.count();
        self.0 = self.0.get(clump.records..).unwrap_or_default();
        Some(clump)
    }
}

struct Open<A> {
    block: Clump<A>,
    /// Where the stretch ends.
    end: A,
}

struct Blocks<A> {
    level: BlockLevel,
    open: Option<Open<A>>,
    /// Last address of the latest clump that reaches over the edge of a stretch.
    covered: Option<A>,
    made: Vec<Pending<A>>,
}

impl<A: Address> Blocks<A> {
    fn take(&mut self, clump: &Clump<A>) {
        let (start, end) = clump.first.prefix(self.level.prefix);
        if clump.last > end {
            self.close(clump.first.previous());
            self.covered = Some(clump.last);
            return;
        }
        match &mut self.open {
            Some(open) if open.end == end => {
                open.block.records += clump.records;
                open.block.registry = open.block.registry.and(clump.registry);
            }
            _ => {
                self.close(None);
                let first = self
                    .covered
                    .filter(|last| *last >= start)
                    .and_then(Address::next)
                    .unwrap_or(start);
                let block =
                    Clump { first, last: end, records: clump.records, registry: clump.registry };
                self.open = Some(Open { block, end });
            }
        }
    }

    /// Ends the open block, before the end of its stretch where something else begins there.
    fn close(&mut self, limit: Option<A>) {
        let Some(Open { block, end }) =
            self.open.take().filter(|open| open.block.records >= self.level.least)
        else {
            return;
        };
        let last = limit.map_or(end, |limit| limit.min(end));
        let attributes = Attributes::new(SubnetKind::Block, block.registry.registry(), None);
        self.made.push(Pending { first: block.first, last, company: None, attributes });
    }
}
