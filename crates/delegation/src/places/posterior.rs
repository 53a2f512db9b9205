//! Posterior of one subnet: at which place it is, and with which access time.

use model::AgentId;

use super::access_time::{NetworkTime, PerAccess, VALUES};
use super::cells::Expected;
use super::distance_table::{Column, PlaceIndex};
use super::{Levels, PlaceModel};

/// Degrees of freedom of Student's *t*; the power in [`density`] follows from them.
const FREEDOM: f32 = 10.0;
/// Constant of Student's *t* with these degrees of freedom.
const CONSTANT: f32 = 0.389;
/// Share of probes that say nothing, because something was wrong on the path.
const IRREGULAR: f32 = 0.002;
/// Density of an irregular probe at a logarithm.
const IRREGULAR_DENSITY: f32 = 0.3;
/// Places with a smaller share of the likeliest place's prior are left out at first.
const NEGLIGIBLE_PRIOR: f32 = 2e-5;
/// Places with a smaller share of the likeliest place's posterior are dropped.
const NEGLIGIBLE: f32 = 2e-4;
/// Density below which a probe is a surprise, after which all places are considered again.
const SURPRISE: f32 = 0.01;
/// Least prior of a place after a surprise.
const MIN_PRIOR: f32 = 1e-6;

/// A place where the subnet may be, with the probability of each access time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hypothesis {
    pub(super) place: PlaceIndex,
    pub(super) weights: PerAccess,
}

impl Hypothesis {
    /// Probability of the place.
    pub(super) fn total(&self) -> f32 {
        self.weights.iter().sum()
    }
}

/// The hypotheses of one subnet, updated by each probe.
///
/// Each probe multiplies the probability of every hypothesis by how well it explains the round
/// trip, with heavy tails (Student's *t*), because a single irregular measurement must not decide.
#[derive(Debug, Clone)]
pub struct Posterior<'m> {
    pub(super) model: &'m PlaceModel,
    pub(super) route_variance: f32,
    prior: Vec<f32>,
    hypotheses: Vec<Hypothesis>,
    seen: Vec<(Column, f32)>,
    /// Probability of everything that was seen.
    evidence: f64,
    has_all_places: bool,
}

impl<'m> Posterior<'m> {
    pub(super) fn new(model: &'m PlaceModel, levels: Levels) -> Self {
        let prior = model.prior.probabilities(&model.map, levels);
        Self::from_prior(model, prior, model.route.variance())
    }

    pub(super) fn from_prior(model: &'m PlaceModel, prior: Vec<f32>, route_variance: f32) -> Self {
        let least = NEGLIGIBLE_PRIOR * prior.iter().copied().fold(0.0, f32::max);
        let access = model.access.weights();
        let hypotheses = places(&prior, |probability| probability > least)
            .map(|(place, probability)| hypothesis(place, probability, access))
            .collect();
        Self {
            model,
            route_variance,
            prior,
            hypotheses,
            seen: Vec::new(),
            evidence: 1.0,
            has_all_places: false,
        }
    }

    /// Updates the posterior: `agent` measured `rtt_ms`. Agents that are not on the map are
    /// ignored.
    pub fn observe(&mut self, agent: AgentId, rtt_ms: f64) {
        if let Some(column) = self.model.map.column(agent) {
            self.observe_column(column, rtt_ms as f32);
        }
    }

    pub(super) fn observe_column(&mut self, column: Column, rtt_ms: f32) {
        self.seen.push((column, rtt_ms));
        let density = self.update(column, rtt_ms);
        if density < SURPRISE / rtt_ms.max(1.0) && !self.has_all_places {
            self.add_places();
        }
        let most = self.hypotheses.iter().map(Hypothesis::total).fold(0.0, f32::max);
        self.hypotheses.retain(|hypothesis| hypothesis.total() > NEGLIGIBLE * most);
    }

    /// Multiplies all hypotheses and scales their sum back to one. Returns how probable the round
    /// trip was.
    fn update(&mut self, column: Column, rtt_ms: f32) -> f32 {
        let network = self.model.access.network(rtt_ms);
        for hypothesis in &mut self.hypotheses {
            let expected = self.model.cells[hypothesis.place].expected()[column];
            explain(&mut hypothesis.weights, &network, expected, self.route_variance, rtt_ms);
        }
        self.normalise()
    }

    fn normalise(&mut self) -> f32 {
        let total: f32 = self.hypotheses.iter().map(Hypothesis::total).sum::<f32>().max(1e-35);
        for hypothesis in &mut self.hypotheses {
            hypothesis.weights.iter_mut().for_each(|weight| *weight /= total);
        }
        self.evidence *= f64::from(total);
        total
    }

    /// Adds the places that the prior left out, updated by all probes so far.
    fn add_places(&mut self) {
        self.has_all_places = true;
        let least = NEGLIGIBLE_PRIOR * self.prior.iter().copied().fold(0.0, f32::max);
        let access = self.model.access.weights();
        let left_out = places(&self.prior, |probability| probability <= least);
        let mut added: Vec<Hypothesis> = left_out
            .map(|(place, probability)| hypothesis(place, probability.max(MIN_PRIOR), access))
            .collect();
        // Each probe so far divided the kept hypotheses by its probability; the product of these
        // is `evidence`. The added ones must be divided by the same product, so that both are on
        // one scale. It is spread over the probes, so that no weight becomes too small for a float.
        let scale = self.evidence.max(1e-300).powf(1.0 / self.seen.len() as f64) as f32;
        for (column, rtt_ms) in &self.seen {
            let network = self.model.access.network(*rtt_ms);
            for hypothesis in &mut added {
                let expected = self.model.cells[hypothesis.place].expected()[*column];
                explain(&mut hypothesis.weights, &network, expected, self.route_variance, *rtt_ms);
                hypothesis.weights.iter_mut().for_each(|weight| *weight /= scale);
            }
        }
        self.hypotheses.append(&mut added);
        self.normalise();
    }

    /// The places that are not negligible; their probabilities sum to one.
    pub(super) fn hypotheses(&self) -> &[Hypothesis] {
        &self.hypotheses
    }

    /// Makes sure that these places are among the hypotheses, with a small probability at least.
    pub(super) fn include(&mut self, wanted: &[(PlaceIndex, f32)]) {
        let access = self.model.access.weights();
        for (place, probability) in wanted {
            if self.hypotheses.iter().all(|hypothesis| hypothesis.place != *place) {
                self.hypotheses.push(hypothesis(*place, NEGLIGIBLE * probability, access));
            }
        }
    }

    /// Keeps the likeliest places only.
    pub(super) fn keep_likeliest(&mut self, count: usize) {
        self.hypotheses.sort_by(|a, b| b.total().total_cmp(&a.total()));
        self.hypotheses.truncate(count);
        // A refit keeps one of these for each company with several trails.
        self.hypotheses.shrink_to_fit();
    }

    /// Logarithm of the probability of everything that was seen.
    pub(super) fn log_evidence(&self) -> f64 {
        self.evidence.max(1e-300).ln()
    }

    /// Expected round trip from `agent`, with its standard deviation, in milliseconds; `None` for
    /// an agent that is not on the map.
    pub fn expected_ms(&self, agent: AgentId) -> Option<(f64, f64)> {
        let column = self.model.map.column(agent)?;
        let mut mean = 0.0;
        let mut square = 0.0;
        for hypothesis in &self.hypotheses {
            let weight = hypothesis.total();
            let expected = self.model.cells[hypothesis.place].expected()[column];
            let variance = expected.variance + self.route_variance;
            let access_ms = self.model.access.mean_ms(&hypothesis.weights) / weight.max(1e-30);
            // The time of the network is log-normal: its mean is exp(µ + σ²/2), and its variance
            // is the squared mean times (exp(σ²) - 1).
            let network_ms = (expected.log + 0.5 * variance).exp();
            let time_ms = network_ms + access_ms;
            let spread = network_ms * network_ms * variance.exp_m1();
            mean += weight * time_ms;
            square += weight * (time_ms * time_ms + spread);
        }
        // The variance of the mixture is the mean of the squares less the square of the mean.
        Some((f64::from(mean), f64::from((square - mean * mean).max(0.0).sqrt())))
    }
}

fn places(prior: &[f32], keep: impl Fn(f32) -> bool) -> impl Iterator<Item = (PlaceIndex, f32)> {
    let places = prior.iter().copied().enumerate();
    places.filter(move |(_, probability)| keep(*probability))
}

fn hypothesis(place: PlaceIndex, probability: f32, access: &PerAccess) -> Hypothesis {
    Hypothesis { place, weights: access.map(|weight| weight * probability) }
}

/// Multiplies the weights by how well a place explains a round trip with each access time.
fn explain(
    weights: &mut PerAccess,
    network: &[NetworkTime; VALUES],
    expected: Expected,
    route_variance: f32,
    rtt_ms: f32,
) {
    let variance = expected.variance + route_variance;
    let irregular = IRREGULAR * IRREGULAR_DENSITY / rtt_ms.max(1.0);
    for (weight, time) in weights.iter_mut().zip(network) {
        let residual = time.log - expected.log;
        *weight *= density(residual, variance + time.deviation * time.deviation) * time.density
            + irregular;
    }
}

/// Student's *t* at a residual.
fn density(residual: f32, variance: f32) -> f32 {
    let base = 1.0 + residual * residual / (variance * FREEDOM);
    let square = base * base;
    // The base to the power of 5.5, half of one more than the degrees of freedom.
    CONSTANT / (square * square * base * (base * variance).sqrt())
}
