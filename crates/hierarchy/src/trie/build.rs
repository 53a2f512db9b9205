//! Segments to nodes, slots and lists, in one pass.

use super::lists::{Lists, Slot};
use super::stride::stride;
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
        rest.iter().fold(Self::cut(family, first), |trie, worth| {
            if trie.heap_bytes() > most { Self::cut(family, *worth) } else { trie }
        })
    }

    /// With up to `worth` slots a subnet more if that spares all heads a second read.
    pub(super) fn cut<A: Address>(family: &Family<A>, worth: usize) -> Self {
        let below = family.heads.get(1..).unwrap_or_default();
        let base = below.first().map_or(0, |head| (*head).into());
        let end = end(family).saturating_sub(base);
        let bits = below.len().checked_ilog2().unwrap_or(0).clamp(1, MOST_REGION_BITS);
        let shift = (u64::BITS - end.leading_zeros()).saturating_sub(bits);
        let regions = (end >> shift) as usize + 1;
        let root = Node { slots: 0, shift: 0, bits: 0 };
        let trie = Self {
            base,
            last: (0, 0),
            shift,
            nodes: vec![root; regions],
            slots: vec![],
            lists: Lists::default(),
        };
        let worth = worth * below.len() / regions;
        let mut growing = Growing { trie, family, worth, owner: 0, begun: 1 };
        let (mut region, mut waiting) = (0, Vec::new());
        flatten(family, |head, owner| {
            let Some(offset) = head.checked_sub(base) else { return };
            let here = (offset >> shift) as usize;
            while region < here.min(regions) {
                growing.region(region, &waiting);
                waiting.clear();
                region += 1;
            }
            growing.trie.last = (offset, owner);
            waiting.push((offset, owner));
        });
        while region < regions {
            growing.region(region, &waiting);
            waiting.clear();
            region += 1;
        }
        growing.trie.slots.shrink_to_fit();
        growing.trie.nodes.shrink_to_fit();
        growing.trie.lists.shrink_to_fit();
        growing.trie
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
struct Growing<'f, A: Address> {
    trie: Trie,
    family: &'f Family<A>,
    /// How many more slots a node may have if that spares all its heads a second read.
    worth: usize,
    /// Whose the line is up to the next segment.
    owner: u32,
    /// Place of the first subnet that begins in the latest slot or after it.
    begun: u32,
}

impl<A: Address> Growing<'_, A> {
    fn region(&mut self, number: usize, segments: &[Segment]) {
        let from = (number as u64) << self.trie.shift;
        self.trie.nodes[number] = self.node(from, self.trie.shift, 0, segments);
    }

    /// Cuts the `1 << span` heads from an offset on, in which these segments start, into at least `1 << least` slots.
    fn node(&mut self, from: u64, span: u32, least: u32, segments: &[Segment]) -> Node {
        let bits = stride(self.worth, from, span, segments).max(least).min(span);
        let shift = span - bits;
        let slots = self.trie.slots.len();
        self.trie.slots.resize(slots + (1 << bits), UNTOLD);
        let mut rest = segments;
        for number in 0..1_usize << bits {
            let start = from + ((number as u64) << shift);
            let beyond = rest.iter().take_while(|(at, _)| (at - start) >> shift == 0).count();
            let (here, later) = rest.split_at(beyond);
            self.trie.slots[slots + number] = self.slot(start, shift, here);
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
        self.trie.nodes.push(node);
        let which = self.trie.nodes.len() - 1;
        if which <= WHICH as usize { SEVERAL | DEEPER | which as u32 } else { UNTOLD }
    }

    fn list(&mut self, start: u64, before: u32, segments: &[Segment]) -> Option<usize> {
        let head = self.trie.base + start;
        while self.family.heads.get(self.begun as usize).is_some_and(|other| (*other).into() < head) {
            self.begun += 1;
        }
        let slot = Slot { start, before, begins: self.begun };
        self.trie.lists.push(&slot, segments)
    }
}
