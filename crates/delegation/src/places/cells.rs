//! Cells: what is known of the round trip from each agent to each place.
//!
//! A cell begins as what the travel-time map says. Each measurement of a subnet at the place adds
//! precision; the mean is shrunk towards the map in two steps. A place may be slower or faster than
//! the map says for all agents (its exchange, its sea cable); the rest is the pair's own.

use super::distance_table::Column;
use super::travel_time;

/// Standard deviation of the logarithm by which a place differs from the map for all agents.
const PLACE_DEVIATION: f32 = 0.25;
/// Further standard deviation of a subnet's time around that of its place, when cells are learned:
/// a place represents the region around it.
const REGION_DEVIATION: f32 = 0.1;
/// Squared deviation from which a measurement counts less: three standard deviations.
const UNLIKELY: f32 = 9.0;

/// Expected time of the network between an agent and a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Expected {
    /// Logarithm of milliseconds.
    pub(super) log: f32,
    /// Variance of the logarithm, without that of the route.
    pub(super) variance: f32,
}

/// The cells of one place.
#[derive(Debug, Clone)]
pub(super) struct PlaceCells {
    precision: Vec<f32>,
    /// Sum of what was measured, each weighted with its precision.
    sum: Vec<f32>,
    expected: Vec<Expected>,
    /// Subnets that turned out to be here.
    visits: f32,
}

impl PlaceCells {
    /// Cells without measurements; `km` and `slowness` are by column.
    pub(super) fn new(km: &[f32], slowness: &[f32]) -> Self {
        let agents = km.len();
        let unknown = Expected { log: 0.0, variance: 0.0 };
        let mut cells = Self {
            precision: vec![0.0; agents],
            sum: vec![0.0; agents],
            expected: vec![unknown; agents],
            visits: 0.0,
        };
        cells.refresh(km, slowness);
        cells
    }

    /// What the agents see of the place, by column.
    pub(super) fn expected(&self) -> &[Expected] {
        &self.expected
    }

    /// Subnets that turned out to be here.
    pub(super) fn visits(&self) -> f32 {
        self.visits
    }

    /// Mean of what was measured, with its precision; `None` without measurements.
    pub(super) fn measured(&self, column: Column) -> Option<(f32, f32)> {
        let precision = self.precision[column];
        (precision > 0.0).then(|| (self.sum[column] / precision, precision))
    }

    /// Forgets everything measured; the expectation stays until [`Self::refresh`].
    pub(super) fn clear(&mut self) {
        self.precision.fill(0.0);
        self.sum.fill(0.0);
        self.visits = 0.0;
    }

    /// Counts a subnet that is here with the probability `weight`.
    pub(super) fn visit(&mut self, weight: f32) {
        self.visits += weight;
    }

    /// Adds a measurement: `log` with `variance`, of a subnet that is here with the probability
    /// `weight`.
    pub(super) fn observe(&mut self, column: Column, (log, variance): (f32, f32), weight: f32) {
        let expected = self.expected[column];
        let mut variance = (variance + REGION_DEVIATION * REGION_DEVIATION) / weight;
        let residual = log - expected.log;
        let square = residual * residual / (expected.variance + variance);
        // An unlikely measurement is more often irregular than informative.
        if square > UNLIKELY {
            variance *= 2.0 * square / UNLIKELY;
        }
        self.precision[column] += 1.0 / variance;
        self.sum[column] += log / variance;
    }

    /// Computes the expectation from the map and the measurements.
    ///
    /// This is an empirical Bayes estimate on two levels. The offset of the place is estimated
    /// first, from all pairs. Then each pair is shrunk towards map, slowness and offset; the more
    /// precise its own measurements are, the less.
    pub(super) fn refresh(&mut self, km: &[f32], slowness: &[f32]) {
        let (offset, offset_variance) = self.place_offset(km, slowness);
        for column in 0..km.len() {
            let own = travel_time::variance(km[column]);
            let map = travel_time::usual_ms(km[column]).ln() + slowness[column] + offset;
            let (log, gain) = match self.measured(column) {
                Some((log, precision)) => (log, own / (own + 1.0 / precision)),
                None => (map, 0.0),
            };
            // The measurements leave this share of the pair's own variance. The error of the offset
            // enters with the same share, by which the expectation still follows the map.
            let left = 1.0 - gain;
            self.expected[column] = Expected {
                log: map + gain * (log - map),
                variance: own * left + left * left * offset_variance,
            };
        }
    }

    /// By how much the place differs from the map for all agents, and the variance of that.
    fn place_offset(&self, km: &[f32], slowness: &[f32]) -> (f32, f32) {
        let mut precision = 1.0 / (PLACE_DEVIATION * PLACE_DEVIATION);
        let mut sum = 0.0;
        for column in 0..km.len() {
            let Some((log, known)) = self.measured(column) else { continue };
            let weight = 1.0 / (travel_time::variance(km[column]) + 1.0 / known);
            precision += weight;
            sum += weight * (log - travel_time::usual_ms(km[column]).ln() - slowness[column]);
        }
        (sum / precision, 1.0 / precision)
    }

    /// Standard deviation of a place's difference from the map, squared.
    pub(super) fn place_variance() -> f32 {
        PLACE_DEVIATION * PLACE_DEVIATION
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_replace_the_map_and_move_the_place_for_all() {
        let km = [500.0, 5_000.0, 9_000.0];
        let mut cells = PlaceCells::new(&km, &[0.0; 3]);
        let before = cells.expected().to_vec();
        assert!((before[0].log - travel_time::usual_ms(500.0).ln()).abs() < 1e-6);
        for _ in 0..20 {
            cells.observe(0, (before[0].log + 0.3, 0.02), 1.0);
            cells.observe(1, (before[1].log + 0.3, 0.02), 1.0);
        }
        cells.refresh(&km, &[0.0; 3]);
        let after = cells.expected();
        assert!((after[0].log - before[0].log - 0.3).abs() < 0.03);
        assert!(after[0].variance < 0.1 * before[0].variance);
        let moved = after[2].log - before[2].log;
        assert!((0.1..0.3).contains(&moved), "nothing was measured from here: {moved}");
    }

    #[test]
    fn one_irregular_measurement_moves_little() {
        let km = [5_000.0];
        let mut cells = PlaceCells::new(&km, &[0.0]);
        let usual = cells.expected()[0].log;
        for _ in 0..10 {
            cells.observe(0, (usual, 0.02), 1.0);
            cells.refresh(&km, &[0.0]);
        }
        cells.observe(0, (usual + 3.0, 0.02), 1.0);
        cells.refresh(&km, &[0.0]);
        assert!((cells.expected()[0].log - usual).abs() < 0.05);
    }
}
