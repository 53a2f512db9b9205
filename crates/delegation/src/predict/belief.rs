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
    pub(super) chances: Vec<f64>,
    accesses: Vec<Access>,
}

/// What the subnet adds to the time of the network up to it, if it is at some place.
#[derive(Debug, Clone, Copy)]
struct Access {
    /// Above the usual, in milliseconds.
    ms: f64,
    variance: f64,
}

/// Degrees of freedom of Student's *t*; [`Access::observe`] has the power of its density for them.
const FREEDOM: f64 = 4.0;
/// Places less likely than this are not asked for their opinion.
const NEGLIGIBLE: f64 = 1e-3;
/// No place is less likely than this, so that it can come back.
const LEAST: f64 = 1e-200;
/// Once an agent gains less than this from a place, those behind it are not considered there.
const SLIGHT: f64 = 1e-3;

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
        let usual = Access { ms: 0.0, variance: ACCESS_MS * ACCESS_MS };
        let chances = prior.iter().map(|chance| chance.max(LEAST)).collect();
        Self { places, chances, accesses: vec![usual; prior.len()] }
    }

    /// Takes in that `agent` measured `rtt_ms`.
    pub fn observe(&mut self, agent: AgentId, rtt_ms: f64) {
        let states = self.chances.iter_mut().zip(&mut self.accesses);
        if let Some(known) = self.places.expected_of(agent) {
            states
                .zip(known)
                .for_each(|((chance, access), expected)| *chance *= access.observe(*expected, rtt_ms));
        } else {
            let sights = self.places.sights().iter().map(Sight::stranger);
            states
                .zip(sights)
                .for_each(|((chance, access), expected)| *chance *= access.observe(expected, rtt_ms));
        }
        let share = 1.0 / self.chances.iter().sum::<f64>();
        for chance in &mut self.chances {
            *chance = (*chance * share).max(LEAST);
        }
    }

    /// The probability of each place.
    pub fn chances(&self) -> Vec<f64> {
        self.chances.clone()
    }

    /// The round trip to be expected from `agent`, with its deviation, in milliseconds.
    pub fn expected_ms(&self, agent: AgentId) -> (f64, f64) {
        let (mut mean, mut square) = (0.0, 0.0);
        for (place, (chance, access)) in self.chances.iter().zip(&self.accesses).enumerate() {
            let expected = self.expected(place, agent);
            let time_ms = expected.time_ms + access.ms;
            mean += chance * time_ms;
            square += chance * (time_ms * time_ms + access.variance + expected.variance);
        }
        (mean, (square - mean * mean).max(0.0).sqrt())
    }

    /// The probability that `agent` would measure less than `best_ms`, for each of `agents`.
    pub fn chances_below(&self, best_ms: f64, agents: &[AgentId]) -> Vec<f64> {
        let mut below = vec![0.0; agents.len()];
        for (place, chance, access) in self.likely() {
            for (agent, below) in agents.iter().zip(&mut below) {
                *below += chance * normal::below(access.headway(self.expected(place, *agent), best_ms));
            }
        }
        below
    }

    /// The probability that each of `agents` is the nearest of them. Meant for the first probe: deviations of single
    /// routes are left aside.
    pub fn chances_nearest(&self, agents: &[AgentId]) -> Vec<f64> {
        let mut nearest = vec![0.0; agents.len()];
        for (place, chance, _) in self.likely() {
            let times = agents.iter().map(|agent| self.expected(place, *agent).time_ms);
            let first = times.enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b));
            if let Some((index, _)) = first {
                nearest[index] += chance;
            }
        }
        nearest
    }

    /// Who in the field would measure less than `best_ms` with a probability of at least `least`, the likeliest first. Looks
    /// at the nearest agents of the likely places only, so that a thousand agents cost little more than a dozen.
    pub(super) fn nearer(&self, best_ms: f64, least: f64, field: &Field) -> Vec<(AgentId, f64)> {
        let mut below = vec![0.0; field.open.len()];
        let mut of_strangers = 0.0;
        for (place, chance, access) in self.likely() {
            let Some(sight) = self.places.sights().get(place) else { continue };
            let unknown = chance * normal::below(access.headway(sight.stranger(), best_ms));
            of_strangers += unknown;
            for column in &sight.strangers {
                below[*column as usize] += unknown;
            }
            for (column, time_ms) in &sight.nearest {
                let expected = Expected::known(f64::from(*time_ms));
                let gain = chance * normal::below(access.headway(expected, best_ms));
                if gain < SLIGHT {
                    break;
                }
                below[*column as usize] += gain;
            }
        }
        self.ranked(below, of_strangers, least, field)
    }

    /// Who in the field may be the nearest of them, the likeliest first.
    pub(super) fn nearest(&self, field: &Field) -> Vec<(AgentId, f64)> {
        let mut nearest = vec![0.0; field.open.len()];
        let mut of_strangers = 0.0;
        for (place, chance, _) in self.likely() {
            let Some(sight) = self.places.sights().get(place) else { continue };
            let open = |column: u32| field.open[column as usize];
            let known = sight.nearest.iter().find(|(column, _)| open(*column)).copied();
            let unknown = sight.strangers.iter().copied().find(|column| open(*column));
            match (known, unknown) {
                (Some((column, time_ms)), _) if f64::from(time_ms) <= sight.mean_ms => {
                    nearest[column as usize] += chance;
                }
                (_, Some(column)) => nearest[column as usize] += chance,
                _ if !field.strangers.is_empty() => of_strangers += chance,
                (Some((column, _)), None) => nearest[column as usize] += chance,
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
        let nothing = Expected { time_ms: 0.0, variance: 0.0 };
        known.unwrap_or_else(|| self.places.sights().get(place).map_or(nothing, Sight::stranger))
    }

    fn likely(&self) -> impl Iterator<Item = (Place, f64, &Access)> {
        let all = self.chances.iter().zip(&self.accesses).enumerate();
        all.filter(|(_, (chance, _))| **chance >= NEGLIGIBLE)
            .map(|(place, (chance, access))| (place, *chance, access))
    }
}

impl Access {
    /// Takes in a round trip; how well it was explained, as a density.
    fn observe(&mut self, expected: Expected, rtt_ms: f64) -> f64 {
        let noise = expected.variance + (PROBE_SIGMA * rtt_ms).powi(2);
        let variance = self.variance + noise;
        let surprise = rtt_ms - expected.time_ms - self.ms;
        let base = 1.0 + surprise * surprise / (variance * FREEDOM);
        // The stranger the measurement, the less it is trusted.
        let noise = noise * base * FREEDOM / (FREEDOM + 1.0);
        let gain = self.variance / (self.variance + noise);
        self.ms += gain * surprise;
        self.variance *= 1.0 - gain;
        // One over the deviation and the base to the power of 2.5, half of one more than the degrees of freedom.
        1.0 / (base * base * (base * variance).sqrt())
    }

    /// How many deviations `best_ms` is above what an agent would measure.
    fn headway(&self, expected: Expected, best_ms: f64) -> f64 {
        let mean = expected.time_ms + self.ms;
        let variance = self.variance + expected.variance + (PROBE_SIGMA * mean).powi(2);
        (best_ms - mean) / variance.sqrt()
    }
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
