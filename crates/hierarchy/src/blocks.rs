//! Blocks: groups of neighbours, so that a flat list of delegations becomes a tree.
//!
//! Registries receive and assign address space in aligned prefixes (RFC 7020), and the ranges of
//! one prefix were mostly assigned by the same office in the same years. A block never splits a
//! record: where a record crosses the boundary of a prefix, the block begins after it or ends
//! before it.

use crate::address::Address;
use crate::attributes::Attributes;
use crate::nest::PendingRange;
use crate::record::SubnetKind;
use crate::registry::Registry;

/// One level of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockLevel {
    /// Length of the prefix that the records of a block share.
    pub prefix: u8,
    /// Number of records below which no block is made.
    pub min_records: usize,
}

/// The blocks of one level around sorted ranges.
pub(crate) fn blocks<A: Address>(
    sorted: &[PendingRange<A>],
    level: BlockLevel,
) -> Vec<PendingRange<A>> {
    let mut grouping = BlockBuilder { level, open: None, crossing: None, blocks: vec![] };
    for group in Overlapping(sorted) {
        grouping.add(&group);
    }
    grouping.close(None);
    grouping.blocks
}

/// Consecutive records as one range.
struct Group<A> {
    first: A,
    last: A,
    records: usize,
    /// The registry that all records share; `None` where they differ or one has none.
    registry: Option<Registry>,
}

/// Iterates over sorted ranges in groups of those that overlap.
struct Overlapping<'r, A>(&'r [PendingRange<A>]);

impl<A: Address> Iterator for Overlapping<'_, A> {
    type Item = Group<A>;

    fn next(&mut self) -> Option<Group<A>> {
        let (head, rest) = self.0.split_first()?;
        let registry = head.attributes.registry();
        let mut group = Group { first: head.first, last: head.last, records: 1, registry };
        for range in rest {
            if range.first > group.last {
                break;
            }
            group.last = group.last.max(range.last);
            group.registry = group.registry.filter(|one| range.attributes.registry() == Some(*one));
            group.records += 1;
        }
        self.0 = self.0.get(group.records..).unwrap_or_default();
        Some(group)
    }
}

/// A block to which records may still be added.
struct OpenBlock<A> {
    group: Group<A>,
    prefix_end: A,
}

struct BlockBuilder<A> {
    level: BlockLevel,
    open: Option<OpenBlock<A>>,
    /// Last address of the latest group that crosses the boundary of a prefix.
    crossing: Option<A>,
    blocks: Vec<PendingRange<A>>,
}

impl<A: Address> BlockBuilder<A> {
    fn add(&mut self, group: &Group<A>) {
        let (prefix_start, prefix_end) = group.first.prefix(self.level.prefix);
        if group.last > prefix_end {
            // The group belongs to no block: the open one ends before it.
            self.close(group.first.previous());
            self.crossing = Some(group.last);
            return;
        }
        match &mut self.open {
            Some(open) if open.prefix_end == prefix_end => {
                open.group.records += group.records;
                open.group.registry =
                    open.group.registry.filter(|one| group.registry == Some(*one));
            }
            _ => {
                self.close(None);
                let after_crossing =
                    self.crossing.filter(|last| *last >= prefix_start).and_then(Address::next);
                let first = after_crossing.unwrap_or(prefix_start);
                let Group { records, registry, .. } = *group;
                let group = Group { first, last: prefix_end, records, registry };
                self.open = Some(OpenBlock { group, prefix_end });
            }
        }
    }

    /// Ends the open block where its prefix ends, or before that at the limit.
    fn close(&mut self, limit: Option<A>) {
        let Some(OpenBlock { group, prefix_end }) = self.open.take() else { return };
        if group.records < self.level.min_records {
            return;
        }
        let last = limit.map_or(prefix_end, |limit| limit.min(prefix_end));
        let attributes = Attributes::new(SubnetKind::Block, group.registry, None);
        self.blocks.push(PendingRange { first: group.first, last, company: None, attributes });
    }
}
