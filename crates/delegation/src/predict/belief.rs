//! Where a subnet may be, and how far it then is from everybody.

use protocol::AgentId;

use super::{ACCESS_MS, PROBE_SIGMA, Place, Places, normal, route_deviation_ms};

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
    log_chance: f64,
    /// Access time above the usual, in milliseconds.
    access_ms: f64,
    access_variance: f64,
}

/// Degrees of freedom of Student's *t*.
const FREEDOM: f64 = 4.0;
/// Half of one more: the power of its density.
const TAIL: f64 = 2.5;
/// Places less likely than this are not asked for their opinion.
const NEGLIGIBLE: f64 = 1e-4;
/// Spread of the time from an agent that has measured nothing there, as a share of the others' mean.
const STRANGER_SIGMA: f64 = 0.7;

impl<'p> Belief<'p> {
    /// Before the first probe. `prior` has a probability for each place.
    pub fn new(places: &'p Places, prior: &[f64]) -> Self {
        let state = |chance: &f64| State {
            log_chance: chance.max(f64::MIN_POSITIVE).ln(),
            access_ms: 0.0,
            access_variance: ACCESS_MS * ACCESS_MS,
        };
        Self { places, states: prior.iter().map(state).collect() }
    }

    /// Takes in that `agent` measured `rtt_ms`.
    pub fn observe(&mut self, agent: AgentId, rtt_ms: f64) {
        for (place, state) in self.states.iter_mut().enumerate() {
            let (expected, deviation) = expected(self.places, place, agent);
            state.observe(expected, deviation, rtt_ms);
        }
    }

    /// The probability of each place.
    pub fn chances(&self) -> Vec<f64> {
        let most = self.states.iter().map(|state| state.log_chance).fold(f64::NEG_INFINITY, f64::max);
        let raw: Vec<f64> = self.states.iter().map(|state| (state.log_chance - most).exp()).collect();
        let sum: f64 = raw.iter().sum();
        raw.into_iter().map(|chance| chance / sum).collect()
    }

    /// The probability that `agent` would measure less than `best_ms`, for each of `agents`.
    pub fn chances_below(&self, best_ms: f64, agents: &[AgentId]) -> Vec<f64> {
        let mut below = vec![0.0; agents.len()];
        for (place, chance) in self.likely_places() {
            for (agent, below) in agents.iter().zip(&mut below) {
                *below += chance * self.chance_below(place, *agent, best_ms);
            }
        }
        below
    }

    /// The probability that each of `agents` is the nearest of them. Meant for the first probe: deviations of single
    /// routes are left aside.
    pub fn chances_nearest(&self, agents: &[AgentId]) -> Vec<f64> {
        let mut nearest = vec![0.0; agents.len()];
        for (place, chance) in self.likely_places() {
            let times = agents.iter().map(|agent| expected(self.places, place, *agent).0);
            let first = times.enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b));
            if let Some((index, _)) = first {
                nearest[index] += chance;
            }
        }
        nearest
    }

    fn chance_below(&self, place: Place, agent: AgentId, best_ms: f64) -> f64 {
        let (expected, deviation) = expected(self.places, place, agent);
        let state = &self.states[place];
        let mean = expected + state.access_ms;
        let variance = state.access_variance + deviation.powi(2) + (PROBE_SIGMA * mean).powi(2);
        normal::below((best_ms - mean) / variance.sqrt())
    }

    fn likely_places(&self) -> impl Iterator<Item = (Place, f64)> + use<> {
        self.chances().into_iter().enumerate().filter(|(_, chance)| *chance >= NEGLIGIBLE)
    }
}

impl State {
    fn observe(&mut self, expected: f64, deviation: f64, rtt_ms: f64) {
        let noise = deviation.powi(2) + (PROBE_SIGMA * rtt_ms).powi(2);
        let variance = self.access_variance + noise;
        let surprise = rtt_ms - expected - self.access_ms;
        let squared = surprise * surprise / variance;
        self.log_chance -= variance.sqrt().ln() + TAIL * (1.0 + squared / FREEDOM).ln();
        let trust = (FREEDOM + 1.0) / (FREEDOM + squared);
        let gain = self.access_variance / (self.access_variance + noise / trust);
        self.access_ms += gain * surprise;
        self.access_variance *= 1.0 - gain;
    }
}

/// Mean and deviation of the round trip from `agent` to a subnet with the usual access at `place`. Of an agent that
/// has measured nothing there, no more is assumed than that it is one of the agents.
fn expected(places: &Places, place: Place, agent: AgentId) -> (f64, f64) {
    places.time_ms(place, agent).map_or_else(
        || (places.mean_ms(place), STRANGER_SIGMA * places.mean_ms(place)),
        |time_ms| (time_ms, route_deviation_ms(time_ms)),
    )
}
