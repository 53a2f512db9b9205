//! Which landmarks are one cluster.
//!
//! Every landmark is laid over every cluster, column by column. The times lie side by side in `f32`
//! and are gone through once, several at a time: with a thousand agents that is what a survey
//! spends its time on.

use super::{ACCESS_MS, Cluster, route_deviation_ms};

/// Times per column; `None` where nobody measured.
pub(super) type Row = Vec<Option<f64>>;

/// A landmark joins a cluster when its squared deviation is on average below this many variances of a
/// route: two, because a cluster of one landmark deviates as much as the newcomer.
const JOIN: f64 = 2.0;
/// Rounds of assigning and averaging. More change nothing that matters.
const ROUNDS: usize = 4;
/// Variance of a measurement however short the way, in square milliseconds.
const FLOOR: f64 = 0.5;

/// The times of each cluster, and the cluster of each row.
pub(super) fn group(rows: &[Row]) -> (Vec<Row>, Vec<Cluster>) {
    let landmarks: Vec<Profile> = rows.iter().map(|row| Profile::new(row, |_| 1.0)).collect();
    let (mut clusters, mut members) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut profiles: Vec<Profile> = clusters.iter().map(Profile::of_cluster).collect();
        members = assign(rows, &landmarks, &mut profiles);
        clusters = average(rows, &landmarks, &mut members, &profiles);
    }
    (clusters, members)
}

/// The nearest cluster of each landmark; who is near to none founds one.
fn assign(rows: &[Row], landmarks: &[Profile], clusters: &mut Vec<Profile>) -> Vec<Cluster> {
    let mut members = Vec::with_capacity(rows.len());
    for (row, landmark) in rows.iter().zip(landmarks) {
        let fits = clusters
            .iter()
            .enumerate()
            .filter_map(|(cluster, times)| Some((cluster, Fit::of(landmark, times)?)));
        let nearest = fits.min_by(|(_, a), (_, b)| a.deviation.total_cmp(&b.deviation));
        members.push(match nearest {
            Some((cluster, fit)) if fit.deviation < JOIN => cluster,
            _ => {
                clusters.push(Profile::of_cluster(row));
                clusters.len() - 1
            }
        });
    }
    members
}

/// The mean of the landmarks of each cluster, freed of their own access times; clusters that lost all
/// are dropped.
fn average(
    rows: &[Row],
    landmarks: &[Profile],
    members: &mut [Cluster],
    clusters: &[Profile],
) -> Vec<Row> {
    let mut sums = vec![Sum::default(); clusters.len()];
    for ((row, landmark), home) in rows.iter().zip(landmarks).zip(members.iter()) {
        let access_ms = Fit::of(landmark, &clusters[*home]).map_or(0.0, |fit| fit.access_ms);
        sums[*home].add(row, access_ms);
    }
    let kept: Vec<Cluster> =
        (0..clusters.len()).filter(|cluster| sums[*cluster].landmarks > 0.0).collect();
    for home in members.iter_mut() {
        *home = kept.partition_point(|cluster| cluster < home);
    }
    kept.into_iter().map(|cluster| sums[cluster].mean()).collect()
}

#[derive(Clone, Default)]
struct Sum {
    landmarks: f64,
    access_ms: f64,
    columns: Vec<(f64, f64)>,
}

impl Sum {
    fn add(&mut self, row: &Row, access_ms: f64) {
        self.columns.resize(row.len(), (0.0, 0.0));
        self.landmarks += 1.0;
        self.access_ms += access_ms;
        for (column, time_ms) in self.columns.iter_mut().zip(row) {
            if let Some(time_ms) = time_ms {
                *column = (column.0 + time_ms - access_ms, column.1 + 1.0);
            }
        }
    }

    fn mean(&self) -> Row {
        let access_ms = self.access_ms / self.landmarks;
        let mean =
            |(sum, count): &(f64, f64)| (*count > 0.0).then(|| (sum / count + access_ms).max(0.1));
        self.columns.iter().map(mean).collect()
    }
}

/// Columns that are gone through together.
const LANES: usize = 8;

/// Some columns of a row; where nothing was measured, the weight is none.
#[derive(Clone, Copy, Default)]
struct Columns {
    times_ms: [f32; LANES],
    weights: [f32; LANES],
}

/// A row laid out for [`Fit`].
struct Profile(Vec<Columns>);

impl Profile {
    fn new(row: &Row, weight: impl Fn(f64) -> f64) -> Self {
        let mut profile = vec![Columns::default(); row.len().div_ceil(LANES)];
        for (column, time_ms) in row.iter().enumerate() {
            let Some(time_ms) = *time_ms else { continue };
            profile[column / LANES].times_ms[column % LANES] = time_ms as f32;
            profile[column / LANES].weights[column % LANES] = weight(time_ms) as f32;
        }
        Self(profile)
    }

    /// The longer the way, the less a deviation says.
    fn of_cluster(row: &Row) -> Self {
        Self::new(row, |expected| 1.0 / (route_deviation_ms(expected).powi(2) + FLOOR))
    }
}

/// How a landmark lies to a cluster.
struct Fit {
    /// Its access time above the cluster's, in milliseconds.
    access_ms: f64,
    /// Mean squared deviation of the rest, in variances of a route.
    deviation: f64,
}

impl Fit {
    /// `None` when no agent has measured both.
    fn of(landmark: &Profile, cluster: &Profile) -> Option<Self> {
        let agents = total(landmark, cluster, |weight, _| if weight > 0.0 { 1.0 } else { 0.0 });
        let weight = total(landmark, cluster, |weight, _| weight);
        let pull = total(landmark, cluster, |weight, difference| weight * difference);
        let squares =
            total(landmark, cluster, |weight, difference| weight * difference * difference);
        let access_ms = pull / (weight + 1.0 / (2.0 * ACCESS_MS * ACCESS_MS));
        // The squares of what is left once the access time is taken off.
        let squares = squares - 2.0 * access_ms * pull + access_ms * access_ms * weight;
        (agents > 0.0).then(|| Self { access_ms, deviation: squares.max(0.0) / agents })
    }
}

/// The sum of `value` of weight and difference over all columns. One sum at a time: several fit no
/// registers.
fn total(landmark: &Profile, cluster: &Profile, value: impl Fn(f32, f32) -> f32) -> f64 {
    let mut sums = [0.0; LANES];
    for (landmark, cluster) in landmark.0.iter().zip(&cluster.0) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            let weight = landmark.weights[lane] * cluster.weights[lane];
            *sum += value(weight, landmark.times_ms[lane] - cluster.times_ms[lane]);
        }
    }
    sums.into_iter().map(f64::from).sum()
}
