//! Sorted ranges to a tree, in one pass with a stack.
//!
//! The ranges of one family come sorted by first address, the wider before the narrower, so that
//! whatever holds a range is on the stack when the range arrives. Two things stand in the way of a
//! tree and are settled here:
//!
//! - *Equal ranges* become one node: the more telling record wins ([`Pending::outranks`]), else the
//!   earlier.
//! - *Crossing ranges* overlap without one holding the other. The later one is cut where the
//!   earlier one ends: its head becomes a child there, its tail comes back in its sorted place. No
//!   address loses its subnet.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::address::Address;
use crate::attributes::Attributes;
use crate::builder::BuildReport;
use crate::id::{CompanyId, SubnetId};
use crate::record::SubnetKind;

/// A range that waits for its place in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pending<A> {
    pub(crate) first: A,
    pub(crate) last: A,
    pub(crate) company: Option<CompanyId>,
    pub(crate) attributes: Attributes,
}

/// The columns of one family's nodes, in pre-order; ids count from the family's root.
#[derive(Debug)]
pub(crate) struct Nest<A> {
    pub(crate) first: Vec<A>,
    pub(crate) last: Vec<A>,
    pub(crate) parent: Vec<SubnetId>,
    pub(crate) company: Vec<Option<CompanyId>>,
    pub(crate) attributes: Vec<Attributes>,
}

/// A piece of a crossing range, or a whole range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece<A> {
    range: Pending<A>,
    cut: bool,
}

struct Open {
    node: usize,
    cut: bool,
}

impl<A: Address> Pending<A> {
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        (self.first, Reverse(self.last)).cmp(&(other.first, Reverse(other.last)))
    }

    /// A delegated range says more than a block of the same extent; a root stays what it is.
    fn outranks(&self, kind: SubnetKind) -> bool {
        kind == SubnetKind::Block && self.attributes.kind() == SubnetKind::Delegated
    }
}

impl<A: Address> Ord for Piece<A> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.range.order(&other.range)
    }
}

impl<A: Address> PartialOrd for Piece<A> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Nests the ranges of one family below a root that holds all its addresses; counts what had to be
/// settled.
pub(crate) fn nest<A: Address>(mut ranges: Vec<Pending<A>>, report: &mut BuildReport) -> Nest<A> {
    ranges.sort_by(Pending::order);
    let mut stack =
        Stack { nest: Nest::with_root(ranges.len()), open: vec![Open { node: 0, cut: false }] };
    let mut tails = BinaryHeap::new();
    let mut whole = ranges.into_iter().map(|range| Piece { range, cut: false }).peekable();
    while let Some(piece) = earlier(&mut whole, &mut tails) {
        let (fitting, tail) = stack.fit(piece);
        if let Some(tail) = tail {
            report.crossing += u64::from(!piece.cut);
            tails.push(Reverse(tail));
        }
        stack.place(fitting, report);
    }
    stack.nest
}

/// The next piece of the two sorted sources; a whole range before the tail that equals it.
fn earlier<A: Address>(
    whole: &mut std::iter::Peekable<impl Iterator<Item = Piece<A>>>,
    tails: &mut BinaryHeap<Reverse<Piece<A>>>,
) -> Option<Piece<A>> {
    let tail_first = match (whole.peek(), tails.peek()) {
        (Some(range), Some(Reverse(tail))) => tail < range,
        (None, _) => true,
        (_, None) => false,
    };
    if tail_first { tails.pop().map(|Reverse(tail)| tail) } else { whole.next() }
}

/// The tree so far and the nodes that may still get children, outermost first. The root never
/// closes.
struct Stack<A> {
    nest: Nest<A>,
    open: Vec<Open>,
}

impl<A: Address> Stack<A> {
    fn innermost(&self) -> usize {
        self.open.last().map_or(0, |open| open.node)
    }

    /// Closes what ends before the piece; cuts the piece where the innermost open node ends.
    fn fit(&mut self, piece: Piece<A>) -> (Piece<A>, Option<Piece<A>>) {
        while self.nest.last[self.innermost()] < piece.range.first {
            self.open.pop();
        }
        let limit = self.nest.last[self.innermost()];
        match limit.next() {
            Some(after) if piece.range.last > limit => {
                let head = Pending { last: limit, ..piece.range };
                let tail = Pending { first: after, ..piece.range };
                (Piece { range: head, cut: true }, Some(Piece { range: tail, cut: true }))
            }
            _ => (piece, None),
        }
    }

    fn place(&mut self, piece: Piece<A>, report: &mut BuildReport) {
        let top = self.innermost();
        let equal =
            self.nest.first[top] == piece.range.first && self.nest.last[top] == piece.range.last;
        if equal { self.merge(top, piece, report) } else { self.push(top, piece) }
    }

    fn merge(&mut self, node: usize, piece: Piece<A>, report: &mut BuildReport) {
        let there = self.nest.attributes[node].kind();
        let lost = !piece.cut
            && piece.range.attributes.kind() != SubnetKind::Block
            && there != SubnetKind::Block;
        let over_a_cut = self.open.last().is_some_and(|open| open.cut) && !piece.cut;
        report.equal += u64::from(lost);
        if over_a_cut || piece.range.outranks(there) {
            self.nest.company[node] = piece.range.company;
            self.nest.attributes[node] = piece.range.attributes;
            if let Some(open) = self.open.last_mut() {
                open.cut = piece.cut;
            }
        }
    }

    fn push(&mut self, parent: usize, piece: Piece<A>) {
        self.open.push(Open { node: self.nest.first.len(), cut: piece.cut });
        self.nest.push(SubnetId::new(parent as u32), piece.range);
    }
}

impl<A: Address> Nest<A> {
    fn with_root(ranges: usize) -> Self {
        let nodes = ranges + 1;
        let mut nest = Self {
            first: Vec::with_capacity(nodes),
            last: Vec::with_capacity(nodes),
            parent: Vec::with_capacity(nodes),
            company: Vec::with_capacity(nodes),
            attributes: Vec::with_capacity(nodes),
        };
        let attributes = Attributes::new(SubnetKind::Root, None, None);
        nest.push(
            SubnetId::new(0),
            Pending { first: A::ZERO, last: A::MAX, company: None, attributes },
        );
        nest
    }

    fn push(&mut self, parent: SubnetId, range: Pending<A>) {
        self.first.push(range.first);
        self.last.push(range.last);
        self.parent.push(parent);
        self.company.push(range.company);
        self.attributes.push(range.attributes);
    }
}
