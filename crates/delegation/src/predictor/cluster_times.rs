//! A cluster, as a search looks at it: the nearest agents first.

use super::clustering::Row;
use super::clusters::ExpectedTime;
use super::normal;
use super::{ACCESS_MS, ROUTE_SIGMA};

/// Agents that are looked at together.
const LANES: usize = 8;

/// So many deviations are as good as certain.
const SURE: f32 = 3.0;
/// Agents that are found certain together, by the farthest of them.
const BLOCK: usize = 16;

/// Spread of the time from an agent that has measured nothing at a cluster, as a share of the others'
/// mean.
const STRANGER_SIGMA: f32 = 0.7;

/// What a search needs to know of a cluster at once.
#[derive(Debug, Clone)]
pub(super) struct ClusterTimes {
    /// The mean over all agents that measured something there.
    pub(super) mean_ms: f32,
    /// What is expected of each agent in milliseconds, the nearest first.
    times_ms: Vec<f32>,
    /// The columns of these agents.
    columns: Vec<u32>,
    /// Columns that measured nothing there.
    pub(super) unmeasured: Vec<u32>,
    /// Variance of the time to a subnet that is near this cluster but not at it, in square
    /// milliseconds.
    spread_variance: f32,
}

impl ClusterTimes {
    pub(super) fn of(row: &Row, spread_ms: f64) -> Self {
        let known = || (0..).zip(row).filter_map(|(column, time)| Some((column, (*time)?)));
        let mut nearest: Vec<(u32, f32)> =
            known().map(|(column, time_ms)| (column, time_ms as f32)).collect();
        nearest.sort_by(|a, b| a.1.total_cmp(&b.1));
        let unmeasured =
            (0..).zip(row).filter(|(_, time)| time.is_none()).map(|(column, _)| column).collect();
        let mean_ms = known().map(|(_, time)| time).sum::<f64>() / nearest.len().max(1) as f64;
        let (columns, times_ms) = nearest.into_iter().unzip();
        Self {
            mean_ms: mean_ms as f32,
            times_ms,
            columns,
            unmeasured,
            spread_variance: (spread_ms * spread_ms) as f32,
        }
    }

    /// What is expected of an agent that measured this here.
    #[inline]
    pub(super) fn known(&self, time_ms: f32) -> ExpectedTime {
        let deviation_ms = ROUTE_SIGMA as f32 * (time_ms - ACCESS_MS as f32).max(1.0);
        ExpectedTime { time_ms, variance: deviation_ms * deviation_ms + self.spread_variance }
    }

    /// What is expected of an agent that has measured nothing here: no more than that it is one of
    /// the agents.
    pub(super) fn unmeasured(&self) -> ExpectedTime {
        let deviation_ms = STRANGER_SIGMA * self.mean_ms;
        ExpectedTime { time_ms: self.mean_ms, variance: deviation_ms * deviation_ms }
    }

    /// Columns with what is expected of them in milliseconds, the nearest first.
    pub(super) fn nearest(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        self.columns.iter().copied().zip(self.times_ms.iter().copied())
    }

    /// Adds to each agent's column the probability that it would measure less than the best so far if
    /// the subnet, which is here with this `probability`, is this many deviations of `headway` away from
    /// it. Begins with the nearest and ends where one gains less than `slight`; who is surely
    /// nearer is not computed one by one.
    pub(super) fn add(
        &self,
        (probability, slight): (f32, f32),
        headway: impl Fn(ExpectedTime) -> f32,
        below: &mut [f32],
    ) {
        let sure = self.sure(&headway);
        for column in &self.columns[..sure] {
            below[*column as usize] += probability;
        }
        let (times_ms, far_ms) = self.times_ms[sure..].as_chunks::<LANES>();
        let (columns, far) = self.columns[sure..].as_chunks::<LANES>();
        for (times_ms, columns) in times_ms.iter().zip(columns) {
            let mut gains = *times_ms;
            for gain in &mut gains {
                *gain = probability * normal::below(headway(self.known(*gain)));
            }
            for (column, gain) in columns.iter().zip(gains) {
                below[*column as usize] += gain;
            }
            if gains[LANES - 1] < slight {
                return;
            }
        }
        for (time_ms, column) in far_ms.iter().zip(far) {
            below[*column as usize] += probability * normal::below(headway(self.known(*time_ms)));
        }
    }

    /// How many of the nearest have so much headway that it counts as certain.
    fn sure(&self, headway: &impl Fn(ExpectedTime) -> f32) -> usize {
        let blocks = self.times_ms.chunks_exact(BLOCK);
        blocks.take_while(|block| headway(self.known(block[BLOCK - 1])) > SURE).count() * BLOCK
    }
}
