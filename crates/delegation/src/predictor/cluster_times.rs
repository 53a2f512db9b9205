//! Times of one cluster, ordered for a search: the nearest agents first.

use super::clustering::Row;
use super::clusters::ExpectedTime;
use super::{ACCESS_MS, ROUTE_SIGMA};
use crate::normal;

/// Standard deviation of the time from an agent that has measured nothing at a cluster, as a share
/// of the other agents' mean.
const UNMEASURED_SIGMA: f32 = 0.7;

/// Deviations below the fastest from which on an agent counts as nearer for certain.
const CERTAIN: f32 = 3.0;
/// Agents that count as certain together, judged by the farthest of them.
const CERTAIN_STEP: usize = 16;
/// Agents whose probabilities are computed together: with a fixed number the compiler computes four
/// at a time, which makes a decision three times as fast at a thousand agents.
const STEP: usize = 8;

/// What a search reads of a cluster.
#[derive(Debug, Clone)]
pub(super) struct ClusterTimes {
    /// Mean over all agents that measured something there.
    pub(super) mean_ms: f32,
    /// Times in milliseconds of the agents that measured something there, the nearest first.
    times_ms: Vec<f32>,
    /// Columns of the same agents.
    columns: Vec<u32>,
    /// Columns of the agents that measured nothing there.
    pub(super) unmeasured: Vec<u32>,
    /// Variance of the time to a subnet that is near this cluster but not at it, in square
    /// milliseconds.
    spread_variance: f32,
}

impl ClusterTimes {
    pub(super) fn of(row: &Row, spread_ms: f64) -> Self {
        let mut nearest = Vec::new();
        let mut unmeasured = Vec::new();
        let mut sum_ms = 0.0;
        for (column, time_ms) in (0..).zip(row) {
            match time_ms {
                Some(time_ms) => {
                    sum_ms += time_ms;
                    nearest.push((column, *time_ms as f32));
                }
                None => unmeasured.push(column),
            }
        }
        nearest.sort_by(|a: &(u32, f32), b| a.1.total_cmp(&b.1));
        let mean_ms = (sum_ms / nearest.len().max(1) as f64) as f32;
        let (columns, times_ms) = nearest.into_iter().unzip();
        let spread_variance = (spread_ms * spread_ms) as f32;
        Self { mean_ms, times_ms, columns, unmeasured, spread_variance }
    }

    /// Expected time from an agent that measured `time_ms` here.
    pub(super) fn measured(&self, time_ms: f32) -> ExpectedTime {
        let deviation_ms = ROUTE_SIGMA as f32 * (time_ms - ACCESS_MS as f32).max(1.0);
        ExpectedTime { time_ms, variance: deviation_ms * deviation_ms + self.spread_variance }
    }

    /// Expected time from an agent that has measured nothing here: that of any agent.
    pub(super) fn unmeasured(&self) -> ExpectedTime {
        let deviation_ms = UNMEASURED_SIGMA * self.mean_ms;
        ExpectedTime { time_ms: self.mean_ms, variance: deviation_ms * deviation_ms }
    }

    /// Column and time in milliseconds of each agent that measured something here, the nearest
    /// first.
    pub(super) fn nearest(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        self.columns.iter().copied().zip(self.times_ms.iter().copied())
    }

    /// Adds to the column of each agent the probability that the subnet is here and the agent
    /// measures less than the fastest so far; `deviations` says how far below the fastest an
    /// expected time is. Agents behind the first that gains less than `negligible` are left out, so
    /// that a thousand agents cost little more than a dozen.
    pub(super) fn add_nearer(
        &self,
        probability: f32,
        negligible: f32,
        deviations: impl Fn(ExpectedTime) -> f32,
        by_column: &mut [f32],
    ) {
        let certain = self.certain(&deviations);
        for column in &self.columns[..certain] {
            by_column[*column as usize] += probability;
        }
        let gain = |time_ms| probability * normal::below(deviations(self.measured(time_ms)));
        let (times_ms, last_ms) = self.times_ms[certain..].as_chunks::<STEP>();
        let (columns, last) = self.columns[certain..].as_chunks::<STEP>();
        for (times_ms, columns) in times_ms.iter().zip(columns) {
            let gains = times_ms.map(gain);
            for (column, gain) in columns.iter().zip(gains) {
                by_column[*column as usize] += gain;
            }
            if gains[STEP - 1] < negligible {
                return;
            }
        }
        for (column, time_ms) in last.iter().zip(last_ms) {
            by_column[*column as usize] += gain(*time_ms);
        }
    }

    /// How many of the nearest agents count as nearer for certain.
    fn certain(&self, deviations: &impl Fn(ExpectedTime) -> f32) -> usize {
        let is_certain =
            |step: &&[f32]| deviations(self.measured(step[CERTAIN_STEP - 1])) > CERTAIN;
        self.times_ms.chunks_exact(CERTAIN_STEP).take_while(is_certain).count() * CERTAIN_STEP
    }
}
