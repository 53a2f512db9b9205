//! The smallest subnet of an address in one or two reads of far memory: a trie whose strides follow the data.
//!
//! The line of heads, flattened into [`segments`](crate::segments), is cut into up to 2^14 equal regions, few enough for their
//! nodes to stay near the processor. A node cuts its stretch into a power of two of *slots*, about as many as segments start there.
//! Most slots lie within one segment and name its owner at once, in a table as that of DIR-24-8 (Gupta, Lin, McKeown 1998). A slot
//! in which several start has a short [list](lists) of them, or a node of its own.
//!
//! A head that is not told here is left to the columns, see [`crate::family`].

mod build;
mod lists;

use self::lists::Lists;
use crate::segments::UNTOLD;

/// A slot from here on has no single owner; the lower bits say where its list is.
const SEVERAL: u32 = 1 << 31;
/// With this bit, too: which node it has.
const DEEPER: u32 = 1 << 30;
/// The bits that say which or where.
const WHICH: u32 = DEEPER - 1;

/// A stretch cut into slots.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// Where its slots begin.
    slots: u32,
    /// A slot spans `1 << shift` heads.
    shift: u8,
    /// There are `1 << bits` slots.
    bits: u8,
}

#[derive(Debug, Clone)]
pub(crate) struct Trie {
    /// Where the first region begins; before it all is the root's.
    base: u64,
    /// Where the last segment starts, counted from `base`, and whose it is.
    last: (u64, u32),
    /// A region spans `1 << shift` heads.
    shift: u32,
    /// Those of the regions in order, then those below.
    nodes: Vec<Node>,
    slots: Vec<u32>,
    lists: Lists,
}

impl Trie {
    /// The place of the smallest subnet that holds the addresses of this head; `None` where that is not told here.
    pub(crate) fn owner(&self, head: u64) -> Option<usize> {
        let Some(offset) = head.checked_sub(self.base) else { return Some(0) };
        if offset >= self.last.0 {
            return told(self.last.1);
        }
        let mut node = self.nodes.get((offset >> self.shift) as usize)?;
        loop {
            let number = (offset >> node.shift) & !(u64::MAX << node.bits);
            let slot = *self.slots.get(node.slots as usize + number as usize)?;
            if slot < SEVERAL {
                return told(slot);
            }
            if slot & DEEPER == 0 {
                let offset = offset & !(u64::MAX << node.shift);
                return self.lists.owner((slot & WHICH) as usize, offset).and_then(told);
            }
            node = self.nodes.get((slot & WHICH) as usize)?;
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.slots.capacity() * size_of::<u32>()
            + self.lists.heap_bytes()
    }
}

fn told(owner: u32) -> Option<usize> {
    (owner != UNTOLD).then_some(owner as usize)
}
