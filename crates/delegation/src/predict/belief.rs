//! Where a subnet may be, and how far it then is from everybody.

use protocol::AgentId;

use super::access::Access;
use super::places::Expected;
use super::rivals::Field;
use super::sight::Sight;
use super::{ACCESS_MS, Place, Places, normal};
use crate::{AvailableAgents, Search};

/// What is believed of one subnet: the chance of each place and, per place, the access time that
/// the probes imply; and the chance that it is at none of them.
///
/// Each probe multiplies the chance of every place by how well it explains the round trip, with
/// heavy tails (Student's *t*), because a single strange measurement must not settle the matter.
/// The access time is followed per place by a Kalman filter of one variable.
#[derive(Debug, Clone)]
pub struct Belief<'p> {
    pub(super) places: &'p Places,
    /// Of each place, and then of being elsewhere.
    pub(super) chances: Vec<f64>,
    accesses: Vec<Access>,
}

/// Places less likely than this are not asked for their opinion.
const NEGLIGIBLE: f64 = 1e-3;
/// So many probes say nothing of the place, because something was in the way.
const STRANGE: f64 = 0.01;
/// No place is less likely than this, so that it can come back.
const LEAST: f64 = 1e-200;
impl<'p> Belief<'p> {
    /// Before the first probe. `prior` has a probability for each place and then that of being
    /// elsewhere, as [`super::Experience::prior`] gives them.
    pub fn new(places: &'p Places, prior: &[f64]) -> Self {
        let usual = Access { ms: 0.0, variance: (ACCESS_MS * ACCESS_MS) as f32 };
        let chances = prior.iter().map(|chance| chance.max(LEAST)).collect();
        Self { places, chances, accesses: vec![usual; places.len()] }
    }

    /// Takes in that `agent` measured `rtt_ms`.
    pub fn observe(&mut self, agent: AgentId, rtt_ms: f64) {
        let states = self.chances.iter_mut().zip(&mut self.accesses);
        let rtt_ms = rtt_ms as f32;
        let anywhere = f64::from(self.places.elsewhere().density(rtt_ms));
        let strange = STRANGE * anywhere;
        if let Some(known) = self.places.expected_of(agent) {
            for ((chance, access), expected) in states.zip(known) {
                *chance *= f64::from(access.observe(*expected, rtt_ms)) + strange;
            }
        } else {
            for ((chance, access), sight) in states.zip(self.places.sights()) {
                *chance *= f64::from(access.observe(sight.stranger(), rtt_ms)) + strange;
            }
        }
        for chance in self.chances.iter_mut().skip(self.accesses.len()) {
            *chance *= anywhere;
        }
        let share = 1.0 / sum(&self.chances);
        for chance in &mut self.chances {
            *chance = (*chance * share).max(LEAST);
        }
    }

    /// The probability of each place, and then that of being elsewhere.
    pub fn chances(&self) -> Vec<f64> {
        self.chances.clone()
    }

    /// The round trip to be expected from `agent`, with its deviation, in milliseconds.
    pub fn expected_ms(&self, agent: AgentId) -> (f64, f64) {
        let (elsewhere_ms, variance) = self.places.elsewhere().moments();
        let mut mean = self.elsewhere() * elsewhere_ms;
        let mut square = self.elsewhere() * (elsewhere_ms * elsewhere_ms + variance);
        for (place, (chance, access)) in self.chances.iter().zip(&self.accesses).enumerate() {
            let expected = self.expected(place, agent);
            let time_ms = f64::from(expected.time_ms + access.ms);
            mean += chance * time_ms;
            square += chance * (time_ms * time_ms + f64::from(access.variance + expected.variance));
        }
        (mean, (square - mean * mean).max(0.0).sqrt())
    }

    /// The probability that `agent` would measure less than `best_ms`, for each of `agents`.
    pub fn chances_below(&self, best_ms: f64, agents: &[AgentId]) -> Vec<f64> {
        let elsewhere = self.elsewhere() * f64::from(self.places.elsewhere().below(best_ms as f32));
        let unexplored = agents.iter().map(|agent| f64::from(self.places.unexplored_by(*agent)));
        let mut below: Vec<f64> = unexplored.map(|share| share * elsewhere).collect();
        for (place, chance, access) in self.likely() {
            for (agent, below) in agents.iter().zip(&mut below) {
                let headway = access.headway(self.expected(place, *agent), best_ms as f32);
                *below += chance * f64::from(normal::below(headway));
            }
        }
        below
    }

    /// The probability that `agent` is the nearest of those on the roster who have not answered the
    /// search, as far as known places tell. Meant for the first probe: deviations of single routes
    /// are left aside.
    pub fn chance_nearest(
        &self,
        agent: AgentId,
        roster: &AvailableAgents,
        search: &Search<'_>,
    ) -> f64 {
        let mut nearest = self.nearest(&Field::new(roster, self.places, search));
        nearest.find(|rival| rival.agent == agent).map_or(0.0, |rival| f64::from(rival.chance))
    }

    /// The probability that it is at no known place.
    pub fn elsewhere(&self) -> f64 {
        self.chances.get(self.places.len()).copied().unwrap_or(0.0)
    }

    fn expected(&self, place: Place, agent: AgentId) -> Expected {
        let known = self.places.expected_of(agent).and_then(|known| known.get(place).copied());
        let nothing = Expected { time_ms: 0.0, variance: 0.0 };
        known.unwrap_or_else(|| self.places.sights().get(place).map_or(nothing, Sight::stranger))
    }

    pub(super) fn likely(&self) -> impl Iterator<Item = (Place, f64, Access)> + '_ {
        let all = self.chances.iter().zip(&self.accesses).enumerate();
        all.filter(|(_, (chance, _))| **chance >= NEGLIGIBLE)
            .map(|(place, (chance, access))| (place, *chance, *access))
    }
}

/// The sum, in several strands at a time.
fn sum(chances: &[f64]) -> f64 {
    let (chunks, rest) = chances.as_chunks::<8>();
    let mut strands = [0.0; 8];
    for chunk in chunks {
        for (strand, chance) in strands.iter_mut().zip(chunk) {
            *strand += chance;
        }
    }
    strands.iter().chain(rest).sum()
}
