//! Departures: when the subnets of a former member do not belong to the region any more.
//!
//! The loan covers what a member had, also after it left: other members may fetch its hosts, under
//! a view that still lists its subnets. Waiting for the end of the loan is no solution, because the
//! loan is renewed as long as the region exists. But every fetch needs a lease, and every lease a
//! majority of the voters. Once a majority refuses claims under the views that list subnets of the
//! former member, and promises made before have ended, its subnets may go to any agent.

use std::collections::{BTreeMap, BTreeSet};

use model::AgentId;

use crate::roster::Version;
use crate::time::Millis;

/// Former members of a region whose subnets its loan still covers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Departures(BTreeMap<AgentId, Departure>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Departure {
    /// A version that lists no subnet of the agent, as do all later ones.
    without: Version,
    refusal: Refusal,
}

/// Since when a majority of voters has refused claims under views before some version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refusal(Option<Millis>);

impl Refusal {
    /// Notes whether the majority refuses them now; returns whether promises that were made before
    /// it did have ended.
    pub fn has_lasted(&mut self, refuses: bool, promise_ms: u64, now: Millis) -> bool {
        if !refuses {
            self.0 = None;
            return false;
        }
        let since = *self.0.get_or_insert(now);
        now.since(since) > promise_ms
    }
}

impl Departures {
    /// The former members whose subnets may go to any agent now. The present version lists none of
    /// their subnets. `majority_refuses` says whether a majority of voters refuses claims under
    /// versions before the given one.
    pub fn over(
        &mut self,
        former: &BTreeSet<AgentId>,
        present: Version,
        majority_refuses: impl Fn(Version) -> bool,
        promise_ms: u64,
        now: Millis,
    ) -> Vec<AgentId> {
        // One that came back and leaves again may have got subnets in between.
        self.0.retain(|agent, _| former.contains(agent));
        let is_over = |agent: &AgentId| {
            let new = Departure { without: present, refusal: Refusal::default() };
            let departure = self.0.entry(*agent).or_insert(new);
            let refuses = majority_refuses(departure.without);
            departure.refusal.has_lasted(refuses, promise_ms, now)
        };
        former.iter().copied().filter(is_over).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMISE_MS: u64 = 1_000;

    fn agents(numbers: &[i64]) -> BTreeSet<AgentId> {
        numbers.iter().map(|number| AgentId::new(*number)).collect()
    }

    fn version(delta: u64) -> Version {
        Version { epoch: 4, delta }
    }

    /// Which may go at a moment, if the majority refuses claims under versions before `floor`.
    fn over(
        departures: &mut Departures,
        former: &[i64],
        present: u64,
        floor: u64,
        now: u64,
    ) -> BTreeSet<AgentId> {
        let refuses = |at: Version| at <= version(floor);
        let now = Millis(now);
        departures
            .over(&agents(former), version(present), refuses, PROMISE_MS, now)
            .into_iter()
            .collect()
    }

    #[test]
    fn subnets_are_free_when_promises_under_older_views_have_ended() {
        let mut departures = Departures::default();
        assert_eq!(over(&mut departures, &[1], 3, 2, 0), agents(&[]), "the majority is behind");
        assert_eq!(over(&mut departures, &[1], 5, 3, 5_000), agents(&[]), "since now");
        assert_eq!(over(&mut departures, &[1], 5, 5, 6_000), agents(&[]));
        assert_eq!(over(&mut departures, &[1], 9, 5, 6_001), agents(&[1]));
    }

    #[test]
    fn a_majority_that_is_behind_again_is_waited_for_anew() {
        let mut departures = Departures::default();
        over(&mut departures, &[1], 3, 3, 0);
        over(&mut departures, &[1], 3, 2, 500);
        assert_eq!(over(&mut departures, &[1], 3, 3, 2_000), agents(&[]));
        assert_eq!(over(&mut departures, &[1], 3, 3, 3_001), agents(&[1]));
    }

    #[test]
    fn each_agent_has_its_own_version() {
        let mut departures = Departures::default();
        over(&mut departures, &[1], 3, 3, 0);
        over(&mut departures, &[1, 2], 4, 3, 900);
        assert_eq!(over(&mut departures, &[1, 2], 4, 4, 1_500), agents(&[1]));
        assert_eq!(over(&mut departures, &[2], 4, 4, 2_501), agents(&[2]));
    }

    #[test]
    fn an_agent_that_came_back_begins_anew() {
        let mut departures = Departures::default();
        over(&mut departures, &[1], 3, 3, 0);
        over(&mut departures, &[], 4, 3, 500);
        assert_eq!(over(&mut departures, &[1], 5, 3, 2_000), agents(&[]));
    }
}
