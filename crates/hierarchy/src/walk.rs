//! Up and down the tree.

use std::ops::Range;

use crate::id::SubnetId;
use crate::tree::Hierarchy;

/// The subnets around a subnet, nearest first; see [`Hierarchy::ancestors`].
#[derive(Debug, Clone)]
pub struct Ancestors<'h> {
    hierarchy: &'h Hierarchy,
    below: SubnetId,
}

impl<'h> Ancestors<'h> {
    pub(crate) fn new(hierarchy: &'h Hierarchy, below: SubnetId) -> Self {
        Self { hierarchy, below }
    }
}

impl Iterator for Ancestors<'_> {
    type Item = SubnetId;

    fn next(&mut self) -> Option<SubnetId> {
        let parent = self.hierarchy.parent(self.below)?;
        self.below = parent;
        Some(parent)
    }
}

/// The subnets directly below a subnet, in order; see [`Hierarchy::children`].
#[derive(Debug, Clone)]
pub struct Children<'h> {
    hierarchy: &'h Hierarchy,
    rest: Range<SubnetId>,
}

impl<'h> Children<'h> {
    pub(crate) fn new(hierarchy: &'h Hierarchy, descendants: Range<SubnetId>) -> Self {
        Self { hierarchy, rest: descendants }
    }
}

impl Iterator for Children<'_> {
    type Item = SubnetId;

    fn next(&mut self) -> Option<SubnetId> {
        let child = self.rest.start;
        if self.rest.is_empty() {
            return None;
        }
        self.rest.start = self.hierarchy.subtree(child).end;
        Some(child)
    }
}
