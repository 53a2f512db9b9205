//! Segments to nodes, slots, blocks and lists, in one pass.

use super::block::Block;
use super::lists::Draft;
use super::stride::{block_stride, stride};
use super::table::Table;
use super::{DEEPER, Node, Parts, SEVERAL, Trie, WHICH};
use crate::address::Address;
use crate::family::Family;
use crate::segments::{UNTOLD, flatten};

/// With more regions their nodes no longer stay near the processor.
const MOST_REGION_BITS: u32 = 14;
/// What the parts of regions have, and for how many slots a subnet may take memory if that spares
/// all heads a second read: the first of these with which a trie is small enough. With blocks a
/// large one is only where most of them are well filled.
pub(super) const WAYS: [(Parts, usize); 7] = [
    (Parts::Blocks, SLOTS),
    (Parts::Slots, 24),
    (Parts::Slots, 12),
    (Parts::Slots, 6),
    (Parts::Slots, 4),
    (Parts::Slots, 2),
    (Parts::Slots, 1),
];
/// Bytes for each subnet that are small enough: with the columns it comes to 30.
const BYTES: usize = 10;
/// Nobody misses so many bytes.
const FEW_BYTES: usize = 64 * 1024;
/// As many slots are as large as a block.
const SLOTS: usize = size_of::<Block>() / size_of::<u32>();
/// A list is searched from its front, so that a longer one is better cut.
const LONGEST: usize = 32;

/// Where a segment starts, counted from the base, and the place of its owner.
pub(super) type Segment = (u64, u32);

/// Some heads in a row that are to be told of.
pub(super) struct Stretch {
    /// The offset of its first head.
    pub(super) start: u64,
    /// Whose its first heads are, until the first segment starts.
    pub(super) before: u32,
    /// Place of the first subnet that begins in it or after it.
    pub(super) begins: u32,
}

impl Stretch {
    /// All of these start at multiples of `1 << unit` heads from the first one on.
    pub(super) fn unit(&self, segments: &[Segment]) -> u32 {
        segments.iter().fold(0, |all, (at, _)| all | (at - self.start)).trailing_zeros() % u64::BITS
    }
}

impl Trie {
    pub(crate) fn new<A: Address>(family: &Family<A>) -> Self {
        let most = FEW_BYTES.max(BYTES * family.len());
        let [rest @ .., last] = WAYS;
        let small = rest
            .into_iter()
            .map(|way| Growing::cut(family, way, most))
            .find(|grown| grown.bytes() <= most);
        small.unwrap_or_else(|| Growing::cut(family, last, usize::MAX)).finish()
    }
}

/// The last head of all subnets but the root; only one more segment may start behind it, the
/// root's.
fn end<A: Address>(family: &Family<A>) -> u64 {
    let (mut place, mut end) = (1, A::ZERO);
    while let Some((_, last)) = family.bounds(place) {
        (place, end) = (family.subtree_end(place), last);
    }
    end.head().into()
}

/// A trie under construction; stretches come in ascending order.
pub(super) struct Growing<'f, A: Address> {
    family: &'f Family<A>,
    base: u64,
    shift: u32,
    parts: Parts,
    nodes: Vec<Node>,
    slots: Vec<u32>,
    blocks: Vec<Block>,
    lists: Draft,
    /// Where the latest segment starts.
    last: u64,
    most: usize,
    /// For how many slots a node may take memory if that spares all its heads a second read.
    worth: usize,
    /// Whose the line is up to the next segment.
    owner: u32,
    /// Place of the first subnet that begins in the latest stretch or after it.
    begun: u32,
}

impl<'f, A: Address> Growing<'f, A> {
    /// One of the [`WAYS`]; of use if it takes no more than the `most` bytes, beyond which it is
    /// not gone on with.
    pub(super) fn cut(family: &'f Family<A>, (parts, worth): (Parts, usize), most: usize) -> Self {
        let below = family.heads.get(1..).unwrap_or_default();
        let before = below.first().map_or(0, |head| (*head).into()).saturating_sub(1);
        let end = end(family).saturating_add(1);
        let bits = below.len().checked_ilog2().unwrap_or(0).clamp(1, MOST_REGION_BITS);
        let shift = (u64::BITS - (end - before).leading_zeros()).saturating_sub(bits);
        // So that a network at least as large as a part begins where a part does.
        let base = before >> shift << shift;
        let regions = ((end - base) >> shift) as usize + 1;
        let mut growing = Self {
            family,
            base,
            shift,
            parts,
            nodes: vec![Node { parts: 0, shift: 0, bits: 0 }; regions],
            slots: vec![],
            blocks: vec![],
            lists: Draft::default(),
            last: 0,
            most,
            worth: worth * below.len() / regions,
            owner: 0,
            begun: 1,
        };
        let (mut region, mut waiting) = (0, Vec::new());
        flatten(family, |head, owner| {
            let Some(offset) = head.checked_sub(base) else { return };
            let here = (offset >> shift) as usize;
            while region < here.min(regions) {
                growing.region(region, &waiting);
                waiting.clear();
                region += 1;
            }
            growing.last = offset;
            waiting.push((offset, owner));
        });
        while region < regions {
            growing.region(region, &waiting);
            waiting.clear();
            region += 1;
        }
        growing
    }

    fn region(&mut self, number: usize, segments: &[Segment]) {
        if self.bytes() > self.most {
            return;
        }
        let from = (number as u64) << self.shift;
        self.nodes[number] = match self.parts {
            Parts::Slots => self.node(from, self.shift, 0, segments),
            Parts::Blocks => self.blocks(from, segments),
        };
    }

    /// Cuts the `1 << span` heads from an offset on, in which these segments start, into at least
    /// `1 << least` slots.
    fn node(&mut self, from: u64, span: u32, least: u32, segments: &[Segment]) -> Node {
        let bits = stride(self.worth, from, span, segments).max(least).min(span);
        let shift = span - bits;
        let slots = self.slots.len();
        self.slots.resize(slots + (1 << bits), UNTOLD);
        for (number, start, here) in parts(from, shift, bits, segments) {
            self.slots[slots + number] = self.slot(start, shift, here);
        }
        Node { parts: slots as u32, shift: shift as u8, bits: bits as u8 }
    }

    /// Cuts a region into blocks.
    fn blocks(&mut self, from: u64, segments: &[Segment]) -> Node {
        let bits = block_stride(self.worth / SLOTS, from, self.shift, segments);
        let (shift, blocks) = (self.shift - bits, self.blocks.len());
        for (_, start, here) in parts(from, shift, bits, segments) {
            let block = self.block(start, shift, here);
            self.blocks.push(block);
        }
        Node { parts: blocks as u32, shift: shift as u8, bits: bits as u8 }
    }

    fn slot(&mut self, start: u64, shift: u32, segments: &[Segment]) -> u32 {
        let before = self.owner;
        let Some((_, latest)) = segments.last() else { return before };
        if let [(at, owner)] = segments
            && *at == start
        {
            self.owner = *owner;
            return *owner;
        }
        let which = if segments.len() < LONGEST { self.list(start, segments) } else { None };
        if let Some(list) = which.filter(|list| *list <= WHICH as usize) {
            self.owner = *latest;
            return SEVERAL | list as u32;
        }
        self.deeper(start, shift, segments)
    }

    fn block(&mut self, start: u64, shift: u32, segments: &[Segment]) -> Block {
        let Some(block) = Block::of(&self.stretch(start), segments) else {
            return Block::slot(self.deeper(start, shift, segments));
        };
        self.owner = segments.last().map_or(self.owner, |(_, latest)| *latest);
        block
    }

    /// What a slot says with a node of its own.
    fn deeper(&mut self, start: u64, shift: u32, segments: &[Segment]) -> u32 {
        let node = self.node(start, shift, 1, segments);
        self.nodes.push(node);
        let which = self.nodes.len() - 1;
        if which <= WHICH as usize { SEVERAL | DEEPER | which as u32 } else { UNTOLD }
    }

    fn list(&mut self, start: u64, segments: &[Segment]) -> Option<usize> {
        let slot = self.stretch(start);
        self.lists.push(&slot, segments)
    }

    fn stretch(&mut self, start: u64) -> Stretch {
        let head = self.base + start;
        while self.family.heads.get(self.begun as usize).is_some_and(|other| (*other).into() < head)
        {
            self.begun += 1;
        }
        Stretch { start, before: self.owner, begins: self.begun }
    }

    fn bytes(&self) -> usize {
        let tables = size_of_val(&*self.slots) + size_of_val(&*self.blocks) + self.lists.bytes();
        size_of_val(&*self.nodes) + tables
    }

    pub(super) fn finish(mut self) -> Trie {
        self.nodes.shrink_to_fit();
        Trie {
            base: self.base,
            last: self.last,
            shift: self.shift,
            parts: self.parts,
            nodes: self.nodes,
            slots: Table::new(self.slots),
            blocks: Table::new(self.blocks),
            lists: self.lists.finish(),
        }
    }
}

/// The parts of `1 << shift` heads from an offset on: number, offset, and what starts in it.
fn parts(
    from: u64,
    shift: u32,
    bits: u32,
    segments: &[Segment],
) -> impl Iterator<Item = (usize, u64, &[Segment])> {
    let mut rest = segments;
    (0..1_usize << bits).map(move |number| {
        let start = from + ((number as u64) << shift);
        let beyond = rest.iter().take_while(|(at, _)| (at - start) >> shift == 0).count();
        let (here, later) = rest.split_at(beyond);
        rest = later;
        (number, start, here)
    })
}
