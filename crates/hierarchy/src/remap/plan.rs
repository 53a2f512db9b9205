//! The plan: every change that a new generation requires.

use super::assign::assign;
use super::constraints::remap_constraints;
use super::searches::remap_searches;
use super::successors::Candidate;
use super::{Claim, Remapping, SearchClaim, SearchRemapping};
use crate::tree::Hierarchy;

/// Outcomes for everything that is tied to an older generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan<Delegation, Search, Constraint> {
    /// Delegations in the order of the claims.
    pub delegations: Vec<Remapping<Delegation>>,
    /// Open searches in the order given.
    pub searches: Vec<SearchRemapping<Search>>,
    /// Pins and exclusions in the order of their groups.
    pub constraints: Vec<Remapping<Constraint>>,
}

impl<Delegation: Copy + Ord, Search: Copy, Constraint: Copy + Ord>
    Plan<Delegation, Search, Constraint>
{
    /// Computes the plan. Without the `old` generation a transfer looks like no change.
    ///
    /// A range has at most one constraint of each group: the pins are a group, and so are the
    /// exclusions of each agent.
    pub fn of(
        old: Option<&Hierarchy>,
        new: &Hierarchy,
        claims: impl IntoIterator<Item = Claim<Delegation>>,
        searches: impl IntoIterator<Item = SearchClaim<Search>>,
        constraint_groups: impl IntoIterator<Item = Vec<Claim<Constraint>>>,
    ) -> Self {
        let candidates = claims.into_iter().map(|claim| Candidate::new(old, new, claim));
        let delegations = assign(candidates.collect());
        let searches = remap_searches(old, new, searches, &delegations);
        let constraints = constraint_groups
            .into_iter()
            .flat_map(|group| remap_constraints(old, new, group))
            .collect();
        Self { delegations, searches, constraints }
    }

    /// Whether everything keeps its range, so that there is nothing to apply.
    pub fn is_unchanged(&self) -> bool {
        self.delegations.iter().all(Remapping::stays)
            && self.searches.iter().all(SearchRemapping::stays)
            && self.constraints.iter().all(Remapping::stays)
    }
}
