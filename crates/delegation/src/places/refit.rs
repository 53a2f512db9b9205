//! Refit: what single trails cannot learn, computed from all trails together.
//!
//! Early trails were attributed to places when little was known. A refit computes the slowness of
//! the agents, looks for agents with a doubtful position, uses the deviation of routes and the
//! access times that explain the trails best, and attributes every trail again.

use std::collections::HashMap;

use super::cells::PlaceCells;
use super::distance_table::Column;
use super::posterior::Posterior;
use super::trail::{LearnedTrail, SubnetLocation};
use super::{Levels, PlaceModel, Position, travel_time};

/// Trails before the first refit.
const FIRST: usize = 50;
/// A refit is due when the trails have grown by this share.
const GROWTH: f32 = 0.3;
/// Places that may explain a trail in a refit.
const MOST_PLACES: usize = 150;
/// Precision from which a cell says something about its agent.
const MIN_PRECISION: f32 = 20.0;
/// Variance of a cell's mean that counts as one measurement of an agent's slowness.
const SLOWNESS_UNIT: f32 = 0.12;
/// Measurements of slowness that weigh as much as none at all.
const SLOWNESS_PRIOR: f32 = 4.0;
/// Cells from which a doubtful agent is looked for.
const MIN_CELLS: usize = 5;
/// Precision of those.
const MIN_CELL_PRECISION: f32 = 15.0;
/// Variance of a cell around the map that the slowness of agent and place adds to that of the pair.
const SLOWNESS_VARIANCE: f32 = 0.06;
/// Logarithm of the likelihood by which another position must be better.
const LEAD: f32 = 2.0;
/// Trails of which one in [`JUDGED`] compares the deviations of routes, after as many first ones.
const ALL_JUDGED: usize = 300;
const JUDGED: usize = 4;

impl PlaceModel {
    /// Whether the trails have grown enough since the last refit.
    pub fn is_refit_due(&self) -> bool {
        let due = self.refitted_at as f32 * (1.0 + GROWTH);
        self.trails.len() >= FIRST && self.trails.len() as f32 > due
    }

    /// Fits everything to the trails again.
    pub fn refit(&mut self) {
        self.refitted_at = self.trails.len();
        self.place_doubtful_agents();
        self.fit_slowness();
        self.route.refresh();
        let mut trails = std::mem::take(&mut self.trails);
        // All locations are computed by the cells so far, before these are cleared. Then every
        // trail is counted again at its new location.
        let locations = self.locations(&trails);
        self.access.clear();
        self.prior.clear();
        self.cells.iter_mut().for_each(PlaceCells::clear);
        for (trail, location) in trails.iter_mut().zip(locations) {
            trail.location = location;
            self.absorb(trail);
        }
        self.access.refresh();
        self.trails = trails;
        self.refresh_places(0..self.map.len());
    }

    /// Compares the deviations of routes on a trail that was not learned from yet.
    pub(super) fn judge_route(&mut self, levels: Levels, times: &[(Column, f32)]) {
        let number = self.trails.len();
        let is_judged = number < ALL_JUDGED || number.is_multiple_of(JUDGED);
        if times.len() < 2 || !is_judged {
            return;
        }
        let prior = self.prior.probabilities(&self.map, levels);
        let evidence = super::route::CANDIDATES.map(|deviation| {
            let variance = deviation * deviation;
            let mut posterior = Posterior::from_prior(self, prior.clone(), variance);
            for (column, rtt_ms) in times {
                posterior.observe_column(*column, *rtt_ms);
            }
            posterior.log_evidence()
        });
        self.route.judge(evidence);
    }

    /// Agents whose claim was found wrong are moved to where the cells fit best.
    fn place_doubtful_agents(&mut self) {
        for column in self.doubtful.clone() {
            let known = self.map.positions().filter_map(|(place, position)| {
                let (log, precision) = self.cells[place].measured(column)?;
                (precision > MIN_CELL_PRECISION).then_some((position, log))
            });
            let known: Vec<(Position, f32)> = known.collect();
            if known.len() < MIN_CELLS {
                continue;
            }
            let mut best = (fit(&known, self.positions[column]) + LEAD, None);
            for (_, position) in self.map.positions() {
                let fit = fit(&known, position);
                if fit > best.0 {
                    best = (fit, Some(position));
                }
            }
            if let Some(position) = best.1 {
                self.positions[column] = position;
                self.map.move_agent(column, position);
            }
        }
    }

    /// By how much each agent differs from the map everywhere: its own access line.
    fn fit_slowness(&mut self) {
        let agents = self.map.agents().len();
        let mut sums = vec![0.0; agents];
        let mut weights = vec![0.0; agents];
        for (place, cells) in self.cells.iter().enumerate() {
            for (column, km) in self.map.km(place).iter().enumerate() {
                let Some((log, precision)) = cells.measured(column) else { continue };
                if precision > MIN_PRECISION {
                    let variance = travel_time::variance(*km) + PlaceCells::place_variance();
                    let weight = SLOWNESS_UNIT / variance;
                    let residual = log - travel_time::usual_ms(*km).ln();
                    // Bounded, so that one place with an unusual route does not decide.
                    sums[column] += weight * residual.clamp(-1.0, 1.0);
                    weights[column] += weight;
                }
            }
        }
        for (column, slowness) in self.slowness.iter_mut().enumerate() {
            // Shrunk towards zero while there are few measurements.
            *slowness = sums[column] / (weights[column] + SLOWNESS_PRIOR);
        }
    }

    /// Where each trail's subnet is, by what is known now.
    fn locations(&self, trails: &[LearnedTrail]) -> Vec<SubnetLocation> {
        let mut of_company: HashMap<_, u32> = HashMap::new();
        for trail in trails {
            *of_company.entry(trail.levels.company).or_default() += 1;
        }
        let mut candidates: HashMap<Levels, Posterior<'_>> = HashMap::new();
        trails
            .iter()
            .map(|trail| {
                // A company's only trail must not confirm itself; and all such trails of a country
                // have one prior.
                let mut levels = trail.levels;
                if of_company[&levels.company] == 1 {
                    levels.company = None;
                }
                let fresh = candidates.entry(levels).or_insert_with(|| {
                    let mut fresh = Posterior::new(self, levels);
                    fresh.keep_likeliest(MOST_PLACES);
                    fresh
                });
                let mut posterior = fresh.clone();
                posterior.include(&trail.location.places().collect::<Vec<_>>());
                for (agent, rtt_ms) in &trail.times {
                    posterior.observe(*agent, f64::from(*rtt_ms));
                }
                SubnetLocation::of(&posterior)
            })
            .collect()
    }
}

/// Logarithm of the likelihood of an agent's cells if it is at `position`.
fn fit(known: &[(Position, f32)], position: Position) -> f32 {
    let one = |(place, log): &(Position, f32)| {
        let km = place.distance_km(position);
        let variance = travel_time::variance(km) + SLOWNESS_VARIANCE;
        let residual = log - travel_time::usual_ms(km).ln();
        // Student's t with four degrees of freedom.
        -2.5 * (1.0 + residual * residual / variance / 4.0).ln() - 0.5 * variance.ln()
    };
    known.iter().map(one).sum()
}
