//! Clustering of the landmarks, by repeated assignment and averaging as in *k*-means, where a
//! landmark that fits no cluster founds one.

use super::{ACCESS_MS, Cluster, route_deviation_ms};

/// Times by column in milliseconds; `None` where the agent has not measured.
pub(super) type Row = Vec<Option<f64>>;

/// A landmark joins a cluster when its squared deviation is on average below this many variances of
/// a route: two, because a cluster of one landmark deviates as much as the landmark that joins it.
const MAX_DEVIATION: f64 = 2.0;
/// Rounds of assignment and averaging; further rounds change hardly any cluster.
const ROUNDS: usize = 4;
/// Least variance of a measurement, in square milliseconds.
const MIN_VARIANCE: f64 = 0.5;

/// The times of each cluster, and the cluster of each row.
pub(super) fn group(rows: &[Row]) -> (Vec<Row>, Vec<Cluster>) {
    let mut clusters = Vec::new();
    let mut members = Vec::new();
    for _ in 0..ROUNDS {
        let mut centres: Vec<Centre> = clusters.iter().map(Centre::of).collect();
        members = assign(rows, &mut centres);
        clusters = average(rows, &mut members, &centres);
    }
    (clusters, members)
}

/// The nearest cluster of each landmark; a landmark that is near to none founds one.
fn assign(rows: &[Row], centres: &mut Vec<Centre>) -> Vec<Cluster> {
    let mut members = Vec::with_capacity(rows.len());
    for row in rows {
        let fits = centres.iter().enumerate();
        let fits = fits.filter_map(|(cluster, centre)| Some((cluster, Fit::of(row, centre)?)));
        let nearest = fits.min_by(|(_, a), (_, b)| a.deviation.total_cmp(&b.deviation));
        members.push(match nearest {
            Some((cluster, fit)) if fit.deviation < MAX_DEVIATION => cluster,
            _ => {
                centres.push(Centre::of(row));
                centres.len() - 1
            }
        });
    }
    members
}

/// The mean of the landmarks of each cluster, without their own access times; clusters that lost
/// all landmarks are dropped.
fn average(rows: &[Row], members: &mut [Cluster], centres: &[Centre]) -> Vec<Row> {
    let mut sums = vec![Sum::default(); centres.len()];
    for (row, cluster) in rows.iter().zip(members.iter()) {
        let access_ms = Fit::of(row, &centres[*cluster]).map_or(0.0, |fit| fit.access_ms);
        sums[*cluster].add(row, access_ms);
    }
    let is_kept = |cluster: &Cluster| sums[*cluster].landmarks > 0.0;
    let kept: Vec<Cluster> = (0..centres.len()).filter(is_kept).collect();
    for cluster in members.iter_mut() {
        *cluster = kept.partition_point(|other| other < cluster);
    }
    kept.into_iter().map(|cluster| sums[cluster].mean()).collect()
}

#[derive(Clone, Default)]
struct Sum {
    landmarks: f64,
    access_ms: f64,
    /// Sum and number of times by column.
    columns: Vec<(f64, f64)>,
}

impl Sum {
    fn add(&mut self, row: &Row, access_ms: f64) {
        self.columns.resize(row.len(), (0.0, 0.0));
        self.landmarks += 1.0;
        self.access_ms += access_ms;
        for ((sum, count), time_ms) in self.columns.iter_mut().zip(row) {
            if let Some(time_ms) = time_ms {
                *sum += time_ms - access_ms;
                *count += 1.0;
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

/// Times of a cluster by column, with the weight of a deviation from each: the longer the route,
/// the less a deviation says.
struct Centre(Vec<Option<(f64, f64)>>);

impl Centre {
    fn of(row: &Row) -> Self {
        let weight = |time_ms: f64| 1.0 / (route_deviation_ms(time_ms).powi(2) + MIN_VARIANCE);
        let weighted = |time_ms: &Option<f64>| time_ms.map(|time_ms| (time_ms, weight(time_ms)));
        Self(row.iter().map(weighted).collect())
    }
}

/// How well a landmark fits a cluster.
struct Fit {
    /// Access time of the landmark above that of the cluster, in milliseconds.
    access_ms: f64,
    /// Mean squared deviation of the rest, in variances of a route.
    deviation: f64,
}

impl Fit {
    /// `None` when no agent has measured both.
    fn of(landmark: &Row, centre: &Centre) -> Option<Self> {
        let mut agents = 0.0;
        let mut weights = 0.0;
        let mut sum = 0.0;
        let mut squares = 0.0;
        for (time_ms, expected) in landmark.iter().zip(&centre.0) {
            if let (Some(time_ms), Some((expected_ms, weight))) = (time_ms, expected) {
                let difference = time_ms - expected_ms;
                agents += 1.0;
                weights += weight;
                sum += weight * difference;
                squares += weight * difference * difference;
            }
        }
        // The access time adds the same from every agent. Its prior keeps it from explaining what
        // routes do.
        let access_ms = sum / (weights + 1.0 / (2.0 * ACCESS_MS * ACCESS_MS));
        let rest = squares - 2.0 * access_ms * sum + access_ms * access_ms * weights;
        (agents > 0.0).then(|| Self { access_ms, deviation: rest.max(0.0) / agents })
    }
}
