//! Segments to nodes, slots and lists, in one pass.

use super::lists::{Draft, Slot};
use super::stride::stride;
use super::table::Table;
use super::{DEEPER, Node, SEVERAL, Trie, WHICH};
use crate::address::Address;
use crate::family::Family;
use crate::segments::{UNTOLD, flatten};

/// With more regions their nodes no longer stay near the processor.
const MOST_REGION_BITS: u32 = 14;
/// How many slots a subnet may have more if that spares all heads a second read: the first of these with which a trie is small enough.
pub(super) const WORTHS: [usize; 6] = [24, 12, 6, 4, 2, 1];
/// Bytes for each subnet that are small enough: with the columns it comes to 30.
const BYTES: usize = 10;
/// Nobody misses so many bytes.
const FEW_BYTES: usize = 64 * 1024;
/// A list is searched from its front, so that a longer one is better cut.
const LONGEST: usize = 32;

/// Where a segment starts, counted from the base, and the place of its owner.
pub(super) type Segment = (u64, u32);

impl Trie {
    pub(crate) fn new<A: Address>(family: &Family<A>) -> Self {
        let most = FEW_BYTES.max(BYTES * family.len());
        let [first, rest @ ..] = WORTHS;
        let grown = rest.iter().fold(Growing::cut(family, first), |grown, worth| {
            if grown.bytes() > most { Growing::cut(family, *worth) } else { grown }
        });
        grown.finish()
    }
}

/// The last head of all subnets but the root; only one more segment may start behind it, the root's.
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
    nodes: Vec<Node>,
    slots: Vec<u32>,
    lists: Draft,
    /// The latest segment.
    last: Segment,
    /// How many more slots a node may have if that spares all its heads a second read.
    worth: usize,
    /// Whose the line is up to the next segment.
    owner: u32,
    /// Place of the first subnet that begins in the latest slot or after it.
    begun: u32,
}

impl<'f, A: Address> Growing<'f, A> {
    /// With up to `worth` slots a subnet more if that spares all heads a second read.
    pub(super) fn cut(family: &'f Family<A>, worth: usize) -> Self {
        let below = family.heads.get(1..).unwrap_or_default();
        let base = below.first().map_or(0, |head| (*head).into());
        let end = end(family).saturating_sub(base);
        let bits = below.len().checked_ilog2().unwrap_or(0).clamp(1, MOST_REGION_BITS);
        let shift = (u64::BITS - end.leading_zeros()).saturating_sub(bits);
        let regions = (end >> shift) as usize + 1;
        let mut growing = Self {
            family,
            base,
            shift,
            nodes: vec![Node { slots: 0, shift: 0, bits: 0 }; regions],
            slots: vec![],
            lists: Draft::default(),
            last: (0, 0),
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
            growing.last = (offset, owner);
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
        let from = (number as u64) << self.shift;
        self.nodes[number] = self.node(from, self.shift, 0, segments);
    }

    /// Cuts the `1 << span` heads from an offset on, in which these segments start, into at least `1 << least` slots.
    fn node(&mut self, from: u64, span: u32, least: u32, segments: &[Segment]) -> Node {
        let bits = stride(self.worth, from, span, segments).max(least).min(span);
        let shift = span - bits;
        let slots = self.slots.len();
        self.slots.resize(slots + (1 << bits), UNTOLD);
        let mut rest = segments;
        for number in 0..1_usize << bits {
            let start = from + ((number as u64) << shift);
            let beyond = rest.iter().take_while(|(at, _)| (at - start) >> shift == 0).count();
            let (here, later) = rest.split_at(beyond);
            self.slots[slots + number] = self.slot(start, shift, here);
            rest = later;
        }
        Node { slots: slots as u32, shift: shift as u8, bits: bits as u8 }
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
        let which = if segments.len() < LONGEST { self.list(start, before, segments) } else { None };
        if let Some(list) = which.filter(|list| *list <= WHICH as usize) {
            self.owner = *latest;
            return SEVERAL | list as u32;
        }
        let node = self.node(start, shift, 1, segments);
        self.nodes.push(node);
        let which = self.nodes.len() - 1;
        if which <= WHICH as usize { SEVERAL | DEEPER | which as u32 } else { UNTOLD }
    }

    fn list(&mut self, start: u64, before: u32, segments: &[Segment]) -> Option<usize> {
        let head = self.base + start;
        while self.family.heads.get(self.begun as usize).is_some_and(|other| (*other).into() < head) {
            self.begun += 1;
        }
        let slot = Slot { start, before, begins: self.begun };
        self.lists.push(&slot, segments)
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.nodes) + size_of_val(&*self.slots) + self.lists.bytes()
    }

    pub(super) fn finish(mut self) -> Trie {
        self.nodes.shrink_to_fit();
        let (slots, lists) = (Table::new(self.slots), self.lists.finish());
        Trie { base: self.base, last: self.last, shift: self.shift, nodes: self.nodes, slots, lists }
    }
}
