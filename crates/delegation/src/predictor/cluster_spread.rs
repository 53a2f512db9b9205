//! Cluster spread: how far subnets are from the nearest cluster.
//!
//! With few landmarks most subnets are at none of the clusters, but near one. How near is estimated
//! by leaving one out: a landmark that is alone at its cluster would have been as far from its
//! nearest cluster as that one is from the other clusters; a landmark among others at its cluster
//! would have been at a cluster.

use super::clustering::Row;
use super::{ACCESS_MS, Cluster, route_deviation_ms};

/// Distance of the next subnet from the clusters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClusterSpread {
    /// Standard deviation of a round trip to the next subnet from that to the nearest cluster, in
    /// milliseconds.
    pub(super) ms: f64,
    /// Probability that the next subnet is at none of the clusters.
    pub(super) probability: f64,
}

/// Share of the landmarks' mean distance that is used. The far ones make most of the mean, and
/// those are at the background cluster; with all of it many agents are asked in vain, with none of
/// it many nearest agents are missed.
const SHARE: f64 = 0.5;
/// Lone landmarks whose distance is computed; a sample, because each is compared with all clusters.
const SAMPLE: usize = 128;

impl ClusterSpread {
    /// The spread of these clusters; `members` has the cluster of each landmark.
    ///
    /// The probability is Good and Turing's estimate for unseen species: the share of those seen
    /// once (I. J. Good, The Population Frequencies of Species, Biometrika 40, 1953). A landmark
    /// that is alone because of its routes does not count.
    pub(super) fn of(clusters: &[Row], members: &[Cluster]) -> Self {
        let mut landmarks = vec![0; clusters.len()];
        for cluster in members {
            landmarks[*cluster] += 1;
        }
        let is_lone = |cluster: &Cluster| landmarks[*cluster] == 1;
        let lone: Vec<Cluster> = (0..clusters.len()).filter(is_lone).collect();
        let step = lone.len().div_ceil(SAMPLE).max(1);
        let distances = lone.iter().step_by(step).map(|lone| distance_ms(clusters, *lone));
        let distances: Vec<f64> = distances.filter(|distance_ms| *distance_ms > 0.0).collect();
        let known = members.len() as f64;
        let unseen = (distances.len() * step) as f64;
        let sum_ms = distances.iter().sum::<f64>() * step as f64;
        // One more of each kind, so that neither is impossible.
        Self {
            ms: SHARE * sum_ms / known.max(1.0),
            probability: (unseen + 1.0) / (known.max(unseen) + 2.0),
        }
    }
}

/// Distance of a cluster from the nearest other; 0 without another one.
fn distance_ms(clusters: &[Row], cluster: Cluster) -> f64 {
    let others = clusters.iter().enumerate().filter(|(other, _)| *other != cluster);
    let distances = others.filter_map(|(_, other)| apart_ms(&clusters[cluster], other));
    distances.min_by(f64::total_cmp).unwrap_or(0.0)
}

/// Root of the mean square by which the times to two clusters differ, without what access times and
/// routes explain; `None` when no agent has measured both.
fn apart_ms(a: &Row, b: &Row) -> Option<f64> {
    let both = || a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
    let count = both().count() as f64;
    // Each of the two has an access time of its own, the same from every agent.
    let mean = both().map(|(a, b)| a - b).sum::<f64>() / count;
    let access_ms = mean.clamp(-2.0 * ACCESS_MS, 2.0 * ACCESS_MS);
    let square = |(a, b): (f64, f64)| {
        (a - b - access_ms).powi(2) - route_deviation_ms(a).powi(2) - route_deviation_ms(b).powi(2)
    };
    (count > 0.0).then(|| (both().map(square).sum::<f64>() / count).max(0.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(times_ms: [f64; 3]) -> Row {
        times_ms.map(Some).to_vec()
    }

    #[test]
    fn lone_landmarks_give_the_distance_of_the_next_subnet() {
        let clusters =
            [row([10.0, 50.0, 90.0]), row([50.0, 10.0, 90.0]), row([200.0, 200.0, 200.0])];
        let apart_ms = apart_ms(&clusters[0], &clusters[1]).unwrap();
        assert!((30.0..33.0).contains(&apart_ms), "{apart_ms}");
        let spread = |members: &[Cluster]| ClusterSpread::of(&clusters, members);
        let one = spread(&[0, 1, 1, 2, 2]);
        assert!(
            (one.ms - SHARE * apart_ms / 5.0).abs() < 1e-9
                && (one.probability - 2.0 / 7.0).abs() < 1e-9
        );
        let none = spread(&[0, 0, 1, 1, 2, 2]);
        assert!(none.ms < 1e-9 && (none.probability - 1.0 / 8.0).abs() < 1e-9);
        let all = spread(&[0, 1, 2]);
        assert!(
            all.ms > SHARE * 60.0 && (all.probability - 4.0 / 5.0).abs() < 1e-9,
            "the third is far from both"
        );
        assert!(ClusterSpread::of(&clusters[..1], &[0]).ms < 1e-9, "nothing to compare with");
    }

    #[test]
    fn many_lone_landmarks_are_sampled() {
        // Near to or far from each of sixteen agents; neighbours differ in two of them.
        let at = |n: u32| {
            (0..16).map(|bit| Some(if n >> (bit / 2) & 1 == 0 { 20.0 } else { 60.0 })).collect()
        };
        let clusters: Vec<Row> = (0..256).map(at).collect();
        let members: Vec<Cluster> = (0..256).collect();
        let all_ms =
            members.iter().map(|cluster| distance_ms(&clusters, *cluster)).sum::<f64>() / 256.0;
        let some = ClusterSpread::of(&clusters, &members);
        assert!(all_ms > 5.0 && (some.ms / SHARE / all_ms - 1.0).abs() < 0.1, "{some:?} {all_ms}");
    }

    #[test]
    fn access_times_routes_and_agents_with_one_measurement_do_not_count() {
        let from = row([10.0, 50.0, 90.0]);
        for near in [[17.0, 57.0, 97.0], [10.5, 47.0, 97.0]] {
            let apart_ms = apart_ms(&from, &row(near)).unwrap();
            assert!(apart_ms < 1e-9, "{near:?} {apart_ms}");
        }
        assert_eq!(apart_ms(&vec![Some(1.0), None], &vec![None, Some(1.0)]), None);
    }
}
