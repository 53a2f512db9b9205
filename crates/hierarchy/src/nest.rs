//! Nesting: builds a tree from sorted ranges in one pass with a stack.
//!
//! The ranges of one family come sorted by first address, the wider before the narrower, so that
//! everything that holds a range is on the stack when the range arrives. Two conflicts are resolved
//! here:
//!
//! - *Equal ranges* become one node: a delegated range wins over a virtual
//!   one and both win over a block ([`precedence`]), else the earlier record wins.
//! - *Crossing ranges* overlap without one holding the other. The later one is split where the
//!   earlier one ends: its head becomes a child there, its tail returns to its place in the sorted
//!   order. No address loses its subnet.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::address::Address;
use crate::attributes::Attributes;
use crate::build_report::BuildReport;
use crate::id::{CompanyId, SubnetId};
use crate::record::SubnetKind;

/// A range that is not in the tree yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PendingRange<A> {
    pub(crate) first: A,
    pub(crate) last: A,
    pub(crate) company: Option<CompanyId>,
    pub(crate) attributes: Attributes,
}

/// The columns of one family's nodes in pre-order. Ids count from the family's root.
#[derive(Debug)]
pub(crate) struct Nodes<A> {
    pub(crate) first: Vec<A>,
    pub(crate) last: Vec<A>,
    pub(crate) parent: Vec<SubnetId>,
    pub(crate) company: Vec<Option<CompanyId>>,
    pub(crate) attributes: Vec<Attributes>,
}

/// A whole range, or one piece of a crossing range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece<A> {
    range: PendingRange<A>,
    is_split: bool,
}

/// A node on the stack: ranges that come later may still lie inside it.
struct OpenNode {
    node: usize,
    is_split: bool,
}

impl<A: Address> PendingRange<A> {
    /// The order in which ranges are nested: by first address, the wider before the narrower.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        (self.first, Reverse(self.last)).cmp(&(other.first, Reverse(other.last)))
    }

    /// Whether this range replaces an equal node of that kind.
    fn outranks(&self, kind: SubnetKind) -> bool {
        precedence(self.attributes.kind()) > precedence(kind)
    }
}

/// Precedence of kinds among equal ranges: what a registry records comes before what this program
/// derived. A root is never replaced.
fn precedence(kind: SubnetKind) -> u8 {
    match kind {
        SubnetKind::Block => 0,
        SubnetKind::Virtual => 1,
        SubnetKind::Delegated => 2,
        SubnetKind::Root => 3,
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

/// Nests the ranges of one family below a root that holds all its addresses, and counts the
/// conflicts in the report.
pub(crate) fn nest<A: Address>(
    mut ranges: Vec<PendingRange<A>>,
    report: &mut BuildReport,
) -> Nodes<A> {
    ranges.sort_by(PendingRange::order);
    let root = OpenNode { node: 0, is_split: false };
    let mut stack = Stack { nodes: Nodes::with_root(ranges.len()), open: vec![root] };
    let mut tails = BinaryHeap::new();
    let mut whole = ranges.into_iter().map(|range| Piece { range, is_split: false }).peekable();
    while let Some(piece) = next_piece(&mut whole, &mut tails) {
        let (head, tail) = stack.split(piece);
        if let Some(tail) = tail {
            // A range that crosses several others is counted once.
            report.crossing += u64::from(!piece.is_split);
            tails.push(Reverse(tail));
        }
        stack.insert(head, report);
    }
    stack.nodes
}

/// The first piece of the two sorted sources; of equal ones the whole range.
fn next_piece<A: Address>(
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

/// The tree so far, and the nodes that may still get children, outermost first. The root stays open
/// to the end.
struct Stack<A> {
    nodes: Nodes<A>,
    open: Vec<OpenNode>,
}

impl<A: Address> Stack<A> {
    fn innermost(&self) -> usize {
        self.open.last().map_or(0, |open| open.node)
    }

    /// Closes the nodes that end before the piece, and splits the piece where the innermost open
    /// node ends. Answers with the part inside that node and the rest.
    fn split(&mut self, piece: Piece<A>) -> (Piece<A>, Option<Piece<A>>) {
        while self.nodes.last[self.innermost()] < piece.range.first {
            self.open.pop();
        }
        let limit = self.nodes.last[self.innermost()];
        match limit.next() {
            Some(after) if piece.range.last > limit => {
                let head = PendingRange { last: limit, ..piece.range };
                let tail = PendingRange { first: after, ..piece.range };
                let head = Piece { range: head, is_split: true };
                (head, Some(Piece { range: tail, is_split: true }))
            }
            _ => (piece, None),
        }
    }

    /// Adds the piece as a child of the innermost open node, or merges it with that node.
    fn insert(&mut self, piece: Piece<A>, report: &mut BuildReport) {
        let top = self.innermost();
        let is_equal =
            self.nodes.first[top] == piece.range.first && self.nodes.last[top] == piece.range.last;
        if is_equal { self.merge(top, piece, report) } else { self.push(top, piece) }
    }

    fn merge(&mut self, node: usize, piece: Piece<A>, report: &mut BuildReport) {
        let existing = self.nodes.attributes[node].kind();
        // Blocks and virtual subnets are derived and pieces are counted as crossing: only two whole
        // records that claim the same range are worth a report.
        let is_derived = |kind| matches!(kind, SubnetKind::Block | SubnetKind::Virtual);
        let is_duplicate =
            !piece.is_split && !is_derived(piece.range.attributes.kind()) && !is_derived(existing);
        report.equal += u64::from(is_duplicate);
        // A whole record says more about its range than a piece of a record about a wider one.
        let replaces_piece = !piece.is_split && self.open.last().is_some_and(|open| open.is_split);
        if replaces_piece || piece.range.outranks(existing) {
            self.nodes.company[node] = piece.range.company;
            self.nodes.attributes[node] = piece.range.attributes;
            if let Some(open) = self.open.last_mut() {
                open.is_split = piece.is_split;
            }
        }
    }

    fn push(&mut self, parent: usize, piece: Piece<A>) {
        self.open.push(OpenNode { node: self.nodes.first.len(), is_split: piece.is_split });
        self.nodes.push(SubnetId::new(parent as u32), piece.range);
    }
}

impl<A: Address> Nodes<A> {
    fn with_root(ranges: usize) -> Self {
        let capacity = ranges + 1;
        let mut nodes = Self {
            first: Vec::with_capacity(capacity),
            last: Vec::with_capacity(capacity),
            parent: Vec::with_capacity(capacity),
            company: Vec::with_capacity(capacity),
            attributes: Vec::with_capacity(capacity),
        };
        let attributes = Attributes::new(SubnetKind::Root, None, None);
        let root = PendingRange { first: A::ZERO, last: A::MAX, company: None, attributes };
        nodes.push(SubnetId::new(0), root);
        nodes
    }

    fn push(&mut self, parent: SubnetId, range: PendingRange<A>) {
        self.first.push(range.first);
        self.last.push(range.last);
        self.parent.push(parent);
        self.company.push(range.company);
        self.attributes.push(range.attributes);
    }
}
