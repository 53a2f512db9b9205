//! Who may be nearer than the best so far.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use protocol::AgentId;

use super::{Belief, Places, normal};
use crate::{AvailableAgents, Search, Verdict};

/// Once an agent gains less than this from a place, those behind it are not considered there.
const SLIGHT: f32 = 1e-3;
/// Agents that are looked at together.
const LANES: usize = 16;

/// Who can still be chosen: everybody on the roster who has not answered.
#[derive(Debug, Clone)]
pub(super) struct Field<'f> {
    roster: &'f AvailableAgents,
    search: &'f Search<'f>,
    /// Whether the roster and the places have the same agents, as mostly: then nobody has to be
    /// looked up.
    same: bool,
    /// Agents that no landmark tells anything of.
    strangers: Vec<AgentId>,
}

/// An agent with the chance that it is nearer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rival {
    pub(super) agent: AgentId,
    pub(super) chance: f32,
}

impl<'f> Field<'f> {
    pub(super) fn new(
        roster: &'f AvailableAgents,
        places: &Places,
        search: &'f Search<'f>,
    ) -> Self {
        let mut field =
            Self { roster, search, same: roster.is(places.agents()), strangers: Vec::new() };
        if !field.same {
            let strangers = roster.strangers(places.agents());
            field.strangers = strangers.filter(|agent| !field.has_answered(*agent)).collect();
        }
        field
    }

    fn is_open(&self, agent: AgentId) -> bool {
        (self.same || self.roster.knows(agent)) && !self.has_answered(agent)
    }

    fn has_answered(&self, agent: AgentId) -> bool {
        let mut trail = self.search.trail.iter();
        trail.any(|asked| asked.agent == agent && asked.verdict != Verdict::Pending)
    }
}

impl Belief<'_> {
    /// Who in the field would measure less than `best_ms` with a probability of at least `least`,
    /// the likeliest first. Looks at the nearest agents of the likely places only, so that a
    /// thousand agents cost little more than a dozen; and puts them in order only as far as
    /// somebody asks, because a step wants one of them.
    pub(super) fn nearer<'f>(
        &self,
        best_ms: f64,
        least: f64,
        field: Field<'f>,
    ) -> impl Iterator<Item = Rival> + use<'f> {
        let best_ms = best_ms as f32;
        let mut of_strangers = self.elsewhere() as f32 * self.places.elsewhere().below(best_ms);
        let mut below: Vec<f32> =
            self.places.unexplored().iter().map(|share| share * of_strangers).collect();
        for (place, chance, access) in self.likely() {
            let Some(sight) = self.places.sights().get(place) else { continue };
            let chance = chance as f32;
            let headway = |expected| access.headway(expected, best_ms);
            sight.add((chance, SLIGHT), headway, &mut below);
            if !(sight.strangers.is_empty() && field.strangers.is_empty()) {
                let unknown = chance * normal::below(headway(sight.stranger()));
                of_strangers += unknown;
                for column in &sight.strangers {
                    below[*column as usize] += unknown;
                }
            }
        }
        let ranked = self.ranked(&below, (&field.strangers, of_strangers), least as f32);
        ranked.filter(move |rival| field.is_open(rival.agent))
    }

    /// Who in the field may be the nearest of them, the likeliest first.
    pub(super) fn nearest(&self, field: &Field<'_>) -> Ranked {
        let mut nearest = vec![0.0; self.places.agents().len()];
        let mut of_strangers = 0.0;
        for (place, chance, _) in self.likely() {
            let Some(sight) = self.places.sights().get(place) else { continue };
            let chance = chance as f32;
            let open = |column: u32| field.is_open(self.places.agents()[column as usize]);
            let known = sight.nearest().find(|(column, _)| open(*column));
            let unknown = sight.strangers.iter().copied().find(|column| open(*column));
            match (known, unknown) {
                (Some((column, time_ms)), _) if time_ms <= sight.mean_ms => {
                    nearest[column as usize] += chance;
                }
                (_, Some(column)) => nearest[column as usize] += chance,
                _ if !field.strangers.is_empty() => of_strangers += chance,
                (Some((column, _)), None) => nearest[column as usize] += chance,
                (None, None) => {}
            }
        }
        self.ranked(&nearest, (&field.strangers, of_strangers), f32::MIN_POSITIVE)
    }

    /// Those with at least this chance, the likeliest first; of equals the oldest.
    fn ranked(
        &self,
        chances: &[f32],
        (strangers, of_strangers): (&[AgentId], f32),
        least: f32,
    ) -> Ranked {
        let mut worth = Vec::new();
        let mut take = |agents: &[AgentId], chances: &[f32]| {
            let both = agents.iter().zip(chances).filter(|(_, chance)| **chance >= least);
            worth.extend(both.map(|(agent, chance)| Rival { agent: *agent, chance: *chance }));
        };
        let (agents, agents_left) = self.places.agents().as_chunks::<LANES>();
        let (chances, chances_left) = chances.as_chunks::<LANES>();
        for (agents, chances) in agents.iter().zip(chances) {
            // Most are not worth it, which is seen for several at a time.
            if chances.iter().map(|chance| u8::from(*chance >= least)).sum::<u8>() > 0 {
                take(agents, chances);
            }
        }
        take(agents_left, chances_left);
        if of_strangers >= least {
            worth.extend(
                strangers.iter().map(|agent| Rival { agent: *agent, chance: of_strangers }),
            );
        }
        Ranked(worth.into())
    }
}

/// Rivals, put in order as far as somebody asks.
pub(super) struct Ranked(BinaryHeap<Rival>);

impl Iterator for Ranked {
    type Item = Rival;

    fn next(&mut self) -> Option<Rival> {
        self.0.pop()
    }
}

impl Eq for Rival {}

impl Ord for Rival {
    fn cmp(&self, other: &Self) -> Ordering {
        self.chance.total_cmp(&other.chance).then(other.agent.cmp(&self.agent))
    }
}

impl PartialOrd for Rival {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use hierarchy::SubnetId;
    use proptest::prelude::*;

    use super::super::Landmark;
    use super::*;
    use crate::Availability;

    /// Six agents, the last of which measured half of the landmarks; a seventh measured none.
    fn places(times: &[Vec<f64>]) -> Places {
        let landmark = |(number, row): (usize, &Vec<f64>)| {
            let known = row.iter().enumerate().filter(|(agent, _)| *agent < 5 || number % 2 == 0);
            let times_ms = known
                .map(|(agent, time)| (AgentId::new(i64::from(agent as u32) + 1), *time))
                .collect();
            Landmark { subnet: SubnetId::new(number as u32), times_ms }
        };
        Places::survey(&times.iter().enumerate().map(landmark).collect::<Vec<_>>())
    }

    proptest! {
        /// The quick way leaves out only what is far or unlikely.
        #[test]
        fn the_quick_way_agrees_with_the_long_one(
            times in prop::collection::vec(prop::collection::vec(5.0..300.0, 6), 1..12),
            probes in prop::collection::vec((1_i64..8, 5.0..300.0), 1..4),
            best in 5.0..200.0,
        ) {
            let places = places(&times);
            // Of each place, and of being elsewhere.
            let prior = vec![1.0 / (places.len() + 1) as f64; places.len() + 1];
            let mut belief = Belief::new(&places, &prior);
            for (number, rtt_ms) in probes {
                belief.observe(AgentId::new(number), rtt_ms);
            }
            let agents: Vec<AgentId> = (1..8).map(AgentId::new).collect();
            let roster: AvailableAgents = agents.iter().map(|agent| (*agent, Availability::Ready)).collect();
            let search = Search { subnet: SubnetId::new(0), trail: &[], provisional: None, waited_ms: 0 };
            let long = belief.chances_below(best, &agents);
            let quick: Vec<Rival> = belief.nearer(best, 0.0, Field::new(&roster, &places, &search)).collect();
            prop_assert_eq!(quick.len(), 7);
            prop_assert!(quick.is_sorted_by(|a, b| a.chance >= b.chance));
            for Rival { agent, chance } in quick {
                prop_assert!((f64::from(chance) - long[agent.get() as usize - 1]).abs() < 0.01, "{agent} {chance} {long:?}");
            }
        }
    }
}
