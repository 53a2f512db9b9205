//! Everything that is tied to an old generation, and what is to be done with it.

use super::{Carried, Claim, Followed, Quest, follow, place, settle, steer};
use crate::tree::Hierarchy;

/// What is to be done when a new generation is taken up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan<Delegation, Search, Rule> {
    /// Each delegation, in the order of the claims.
    pub delegations: Vec<Carried<Delegation>>,
    /// Each open search, in order.
    pub searches: Vec<Followed<Search>>,
    /// Each pin and each exclusion, in the order of their groups.
    pub rules: Vec<Carried<Rule>>,
}

impl<Delegation: Copy + Ord, Search: Copy, Rule: Copy + Ord> Plan<Delegation, Search, Rule> {
    /// Thinks it out. What it means to have no `old` generation, [`place`] says. A range has one
    /// rule of each group at most: the pins are a group, and so are the exclusions of each agent.
    pub fn of(
        old: Option<&Hierarchy>,
        new: &Hierarchy,
        claims: impl IntoIterator<Item = Claim<Delegation>>,
        quests: impl IntoIterator<Item = Quest<Search>>,
        groups: impl IntoIterator<Item = Vec<Claim<Rule>>>,
    ) -> Self {
        let delegations = settle(place(old, new, claims));
        let searches = follow(old, new, quests, &delegations);
        let rules = groups.into_iter().flat_map(|group| steer(old, new, group)).collect();
        Self { delegations, searches, rules }
    }

    /// Whether everything stays where it is.
    pub fn is_idle(&self) -> bool {
        self.delegations.iter().all(Carried::stays)
            && self.searches.iter().all(Followed::stays)
            && self.rules.iter().all(Carried::stays)
    }
}
