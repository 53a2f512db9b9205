//! The tree flattened: wherever the smallest subnet changes along the line of heads, a *segment*
//! starts, and goes on until the next.

use crate::address::Address;
use crate::family::Family;

/// Owner of a head within which the smallest subnet changes: its segment does not tell (ranges of
/// IPv6 smaller than a /64).
pub(crate) const UNTOLD: u32 = u32::MAX >> 1;

/// Hands each segment to `sink`, the head it starts at and the place of its owner, in ascending
/// order from zero on.
pub(crate) fn flatten<A: Address>(family: &Family<A>, sink: impl FnMut(u64, u32)) {
    let mut flat = Flat { sink, around: vec![(0, A::MAX)], waiting: (0, 0) };
    for place in 1..family.len() {
        let Some((first, last)) = family.bounds(place) else { break };
        flat.leave(Some(first));
        flat.start(first, place);
        flat.around.push((place, last));
    }
    flat.leave(None);
    flat.settle();
}

struct Flat<A, S> {
    sink: S,
    /// The subnets around the latest one and itself, outermost first, each with its last address.
    around: Vec<(usize, A)>,
    /// Head and owner of the latest segment: another that starts there takes its place.
    waiting: (u64, u32),
}

impl<A: Address, S: FnMut(u64, u32)> Flat<A, S> {
    /// Walks up to the subnet that holds `target` (to the root without one) and starts a segment
    /// where each left subnet's parent goes on.
    fn leave(&mut self, target: Option<A>) {
        while let [.., (parent, beyond), (_, last)] = self.around[..]
            && target.is_none_or(|target| last < target)
        {
            if let Some(at) = last.next().filter(|_| last < beyond) {
                self.start(at, parent);
            }
            self.around.pop();
        }
    }

    fn start(&mut self, at: A, owner: usize) {
        let head: u64 = at.head().into();
        let owner = u32::try_from(owner).map_or(UNTOLD, |owner| owner.min(UNTOLD));
        if A::of_head(at.head()) == at {
            return self.put(head, owner);
        }
        if self.waiting.0 <= head {
            self.put(head, UNTOLD);
        }
        if let Some(next) = head.checked_add(1) {
            self.put(next, owner);
        }
    }

    fn put(&mut self, head: u64, owner: u32) {
        if self.waiting.0 != head {
            self.settle();
        }
        self.waiting = (head, owner);
    }

    /// Hands over the segment that waits.
    fn settle(&mut self) {
        (self.sink)(self.waiting.0, self.waiting.1);
    }
}
