//! The agents of a ring in the order of their distance from a position.

use model::AgentId;

use crate::ring::Ring;

/// Iterator over all agents, each once, the one with the nearest replica first.
#[derive(Debug, Clone)]
pub struct Order<'r> {
    ring: &'r Ring,
    position: u64,
    /// The nearest replica that was not looked at, in each direction.
    after: usize,
    before: usize,
    replicas_left: usize,
    agents_left: usize,
    /// One bit for each agent that was given. It is made with the first agent after the nearest,
    /// because most callers take only one.
    given: Vec<u64>,
    first: Option<u16>,
}

impl<'r> Order<'r> {
    pub(super) fn new(ring: &'r Ring, position: u64) -> Self {
        let after = if ring.is_empty() { 0 } else { ring.after(position) };
        let before = if ring.is_empty() { 0 } else { ring.before(after) };
        let replicas_left = ring.len();
        let agents_left = ring.agents.len();
        let given = Vec::new();
        Self { ring, position, after, before, replicas_left, agents_left, given, first: None }
    }

    /// Owner of the nearest replica that was not looked at. Distances grow in both directions, so
    /// the nearer one of two candidates is the nearest of all. At equal distance the one after the
    /// position comes first, so that all agents compute the same order.
    fn next_owner(&mut self) -> Option<u16> {
        self.replicas_left = self.replicas_left.checked_sub(1)?;
        let ring = self.ring;
        let forth = ring.points[self.after].wrapping_sub(self.position);
        let back = self.position.wrapping_sub(ring.points[self.before]);
        let taken = if forth <= back {
            let taken = self.after;
            self.after = ring.following(taken);
            taken
        } else {
            let taken = self.before;
            self.before = ring.before(taken);
            taken
        };
        Some(ring.owners[taken])
    }

    /// Marks an agent as given; false if it was before.
    fn mark(&mut self, owner: u16) -> bool {
        let Some(first) = self.first else {
            self.first = Some(owner);
            return true;
        };
        if owner == first {
            return false;
        }
        if self.given.is_empty() {
            self.given = vec![0; self.ring.agents.len().div_ceil(64)];
        }
        let bits = &mut self.given[usize::from(owner) / 64];
        let bit = 1 << (owner % 64);
        let new = *bits & bit == 0;
        *bits |= bit;
        new
    }
}

impl Iterator for Order<'_> {
    type Item = AgentId;

    fn next(&mut self) -> Option<AgentId> {
        while self.agents_left > 0 {
            let owner = self.next_owner()?;
            if self.mark(owner) {
                self.agents_left -= 1;
                return Some(self.ring.agents[usize::from(owner)]);
            }
        }
        None
    }
}
