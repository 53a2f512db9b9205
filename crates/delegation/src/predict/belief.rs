//! Where a subnet may be, and how far it then is from everybody.

use protocol::AgentId;

use super::places::{Expected, Sight};
use super::{ACCESS_MS, PROBE_SIGMA, Place, Places, normal};

/// What is believed of one subnet: the chance of each place and, per place, the access time that the probes imply.
///
/// Each probe multiplies the chance of every place by how well it explains the round trip, with heavy tails (Student's
/// *t*), because a single strange measurement must not settle the matter. The access time is followed per place by a
/// Kalman filter of one variable.
#[derive(Debug, Clone)]
pub struct Belief<'p> {
    places: &'p Places,
    states: Vec<State>,
}

#[derive(Debug, Clone, Copy)]
struct State {
    chance: f64,
    /// Access time above the usual, in milliseconds.
    access_ms: f64,
    access_variance: f64,
}

/// Degrees of freedom of Student's *t*; `tail` has the power of its density for them.
const FREEDOM: f64 = 4.0;
/// Places less likely than this are not asked for their opinion.
const NEGLIGIBLE: f64 = 5e-4;
/// No place is less likely than this, so that it can come back.
const LEAST: f64 = 1e-200;
/// Agents that would have to be this many deviations faster than expected are not considered.
const FAR: f64 = -3.0;

/// Who can still be chosen.
#[derive(Debug, Clone)]
pub(super) struct Field {
    /// By column of the places.
    pub(super) open: Vec<bool>,
    /// Agents without a column.
    pub(super) strangers: Vec<AgentId>,
}

impl<'p> Belief<'p> {
    /// Before the first probe. `prior` has a probability for each place.
    pub fn new(places: &'p Places, prior: &[f64]) -> Self {
        let state = |chance: &f64| State {
            chance: chance.max(LEAST),
            access_ms: 0.0,
            access_variance: ACCESS_MS * ACCESS_MS,
        };
        Self { places, states: prior.iter().map(state).collect() }
    }

    /// Takes in that `agent` measured `rtt_ms`.
    pub fn observe(&mut self, agent: AgentId, rtt_ms: f64) {
        if let Some(known) = self.places.expected_of(agent) {
            self.states.iter_mut().zip(known).for_each(|(state, expected)| state.observe(*expected, rtt_ms));
        } else {
            let sights = self.places.sights().iter().map(Sight::stranger);
            self.states.iter_mut().zip(sights).for_each(|(state, expected)| state.observe(expected, rtt_ms));
        }
        let sum: f64 = self.states.iter().map(|state| state.chance).sum();
        for state in &mut self.states {
            state.chance = (state.chance / sum).max(LEAST);
        }
    }

    /// The probability of each place.
    pub fn chances(&self) -> Vec<f64> {
        self.states.iter().map(|state| state.chance).collect()
    }

    /// The round trip to be expected from `agent`, with its deviation, in milliseconds.
    pub fn expected_ms(&self, agent: AgentId) -> (f64, f64) {
        let (mut mean, mut square) = (0.0, 0.0);
        for (place, state) in self.states.iter().enumerate() {
            let expected = self.expected(place, agent);
            let time_ms = expected.time_ms + state.access_ms;
            mean += state.chance * time_ms;
            square +=
                state.chance * (time_ms * time_ms + state.access_variance + expected.deviation_ms.powi(2));
        }
        (mean, (square - mean * mean).max(0.0).sqrt())
    }

    /// The probability that `agent` would measure less than `best_ms`, for each of `agents`.
    pub fn chances_below(&self, best_ms: f64, agents: &[AgentId]) -> Vec<f64> {
        let mut below = vec![0.0; agents.len()];
        for (place, state) in self.likely() {
            for (agent, below) in agents.iter().zip(&mut below) {
                *below += state.chance * normal::below(state.headway(self.expected(place, *agent), best_ms));
            }
        }
        below
    }

    /// The probability that each of `agents` is the nearest of them. Meant for the first probe: deviations of single
    /// routes are left aside.
    pub fn chances_nearest(&self, agents: &[AgentId]) -> Vec<f64> {
        let mut nearest = vec![0.0; agents.len()];
        for (place, state) in self.likely() {
            let times = agents.iter().map(|agent| self.expected(place, *agent).time_ms);
            let first = times.enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b));
            if let Some((index, _)) = first {
                nearest[index] += state.chance;
            }
        }
        nearest
    }

    /// Who in the field would measure less than `best_ms` with a probability of at least `least`, the likeliest first. Looks
    /// at the nearest agents of the likely places only, so that a thousand agents cost little more than a dozen.
    pub(super) fn nearer(&self, best_ms: f64, least: f64, field: &Field) -> Vec<(AgentId, f64)> {
        let mut below = vec![0.0; field.open.len()];
        let mut of_strangers = 0.0;
        for (place, state) in self.likely() {
            let Some(sight) = self.places.sights().get(place) else { continue };
            let unknown = state.chance * normal::below(state.headway(sight.stranger(), best_ms));
            of_strangers += unknown;
            for column in &sight.strangers {
                below[*column as usize] += unknown;
            }
            for (column, expected) in &sight.nearest {
                let headway = state.headway(*expected, best_ms);
                if headway < FAR {
                    break;
                }
                if field.open[*column as usize] {
                    below[*column as usize] += state.chance * normal::below(headway);
                }
            }
        }
        self.ranked(below, of_strangers, least, field)
    }

    /// Who in the field may be the nearest of them, the likeliest first.
    pub(super) fn nearest(&self, field: &Field) -> Vec<(AgentId, f64)> {
        let mut nearest = vec![0.0; field.open.len()];
        let mut of_strangers = 0.0;
        for (place, state) in self.likely() {
            let Some(sight) = self.places.sights().get(place) else { continue };
            let open = |column: u32| field.open[column as usize];
            let known = sight.nearest.iter().find(|(column, _)| open(*column)).copied();
            let unknown = sight.strangers.iter().copied().find(|column| open(*column));
            match (known, unknown) {
                (Some((column, expected)), _) if expected.time_ms <= sight.mean_ms => {
                    nearest[column as usize] += state.chance;
                }
                (_, Some(column)) => nearest[column as usize] += state.chance,
                _ if !field.strangers.is_empty() => of_strangers += state.chance,
                (Some((column, _)), None) => nearest[column as usize] += state.chance,
                (None, None) => {}
            }
        }
        self.ranked(nearest, of_strangers, f64::MIN_POSITIVE, field)
    }

    fn ranked(&self, chances: Vec<f64>, of_strangers: f64, least: f64, field: &Field) -> Vec<(AgentId, f64)> {
        let known = chances
            .into_iter()
            .enumerate()
            .filter(|(column, chance)| *chance >= least && field.open[*column]);
        let known = known.map(|(column, chance)| (self.places.agents()[column], chance));
        let strangers = field.strangers.iter().map(|agent| (*agent, of_strangers));
        let mut ranked: Vec<(AgentId, f64)> =
            known.chain(strangers.filter(|(_, chance)| *chance >= least)).collect();
        ranked.sort_by(|(a_id, a), (b_id, b)| b.total_cmp(a).then(a_id.cmp(b_id)));
        ranked
    }

    fn expected(&self, place: Place, agent: AgentId) -> Expected {
        let known = self.places.expected_of(agent).and_then(|known| known.get(place).copied());
        let nothing = Expected { time_ms: 0.0, deviation_ms: 0.0 };
        known.unwrap_or_else(|| self.places.sights().get(place).map_or(nothing, Sight::stranger))
    }

    fn likely(&self) -> impl Iterator<Item = (Place, &State)> {
        self.states.iter().enumerate().filter(|(_, state)| state.chance >= NEGLIGIBLE)
    }
}

impl State {
    fn observe(&mut self, expected: Expected, rtt_ms: f64) {
        let noise = expected.deviation_ms.powi(2) + (PROBE_SIGMA * rtt_ms).powi(2);
        let variance = self.access_variance + noise;
        let surprise = rtt_ms - expected.time_ms - self.access_ms;
        let squared = surprise * surprise / variance;
        self.chance /= variance.sqrt() * tail(1.0 + squared / FREEDOM);
        let trust = (FREEDOM + 1.0) / (FREEDOM + squared);
        let gain = self.access_variance / (self.access_variance + noise / trust);
        self.access_ms += gain * surprise;
        self.access_variance *= 1.0 - gain;
    }

    /// How many deviations `best_ms` is above what an agent would measure.
    fn headway(&self, expected: Expected, best_ms: f64) -> f64 {
        let mean = expected.time_ms + self.access_ms;
        let variance = self.access_variance + expected.deviation_ms.powi(2) + (PROBE_SIGMA * mean).powi(2);
        (best_ms - mean) / variance.sqrt()
    }
}

/// To the power of 2.5, half of one more than the degrees of freedom.
fn tail(base: f64) -> f64 {
    base * base * base.sqrt()
}

#[cfg(test)]
mod tests {
    use hierarchy::SubnetId;
    use proptest::prelude::*;

    use super::super::Landmark;
    use super::*;

    /// Six agents, the last of which measured half of the landmarks; a seventh measured none.
    fn places(times: &[Vec<f64>]) -> Places {
        let landmark = |(number, row): (usize, &Vec<f64>)| {
            let known = row.iter().enumerate().filter(|(agent, _)| *agent < 5 || number % 2 == 0);
            let times_ms =
                known.map(|(agent, time)| (AgentId::new(i64::from(agent as u32) + 1), *time)).collect();
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
            let mut belief = Belief::new(&places, &vec![1.0 / places.len() as f64; places.len()]);
            for (number, rtt_ms) in probes {
                belief.observe(AgentId::new(number), rtt_ms);
            }
            let agents: Vec<AgentId> = (1..8).map(AgentId::new).collect();
            let field = Field { open: vec![true; 6], strangers: vec![AgentId::new(7)] };
            let long = belief.chances_below(best, &agents);
            let quick = belief.nearer(best, 0.0, &field);
            prop_assert_eq!(quick.len(), 7);
            for (agent, chance) in quick {
                prop_assert!((chance - long[agent.get() as usize - 1]).abs() < 0.01, "{agent} {chance} {long:?}");
            }
        }
    }
}
