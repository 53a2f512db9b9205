//! Between the landmarks.
//!
//! With few landmarks most subnets are at none of them, but near one. How near, the landmarks tell
//! of each other: one that is alone at its cluster would have been met so far from the nearest cluster
//! that is left without it; one in company at none at all.

use super::clustering::Row;
use super::{ACCESS_MS, Cluster, route_deviation_ms};

/// How the landmarks lie to each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClusterSpread {
    /// Deviation of a round trip to the next subnet from that to the nearest cluster, in
    /// milliseconds.
    pub(super) ms: f64,
    /// Probability that the next subnet is at none of the clusters.
    pub(super) probability: f64,
}

/// The share of the landmarks' mean spread that is taken. The far ones make most of the mean, and for
/// those there is [`super::background`]; with all of it many are asked in vain, with none of it many
/// a nearest one is missed.
const SHARE: f64 = 0.5;
/// Landmarks that are asked how far they are from the others; more would say the same and take
/// longer.
const ASKED: usize = 128;

impl ClusterSpread {
    /// Between landmarks of these clusters; each landmark has its own in `members`.
    ///
    /// The probability is what Good and Turing estimate of species that nobody has met: the share of
    /// those met once (I. J. Good, The Population Frequencies of Species, Biometrika 40, 1953). A
    /// landmark that is alone because of its routes does not count.
    pub(super) fn of(clusters: &[Row], members: &[Cluster]) -> Self {
        let mut landmarks = vec![0; clusters.len()];
        for cluster in members {
            landmarks[*cluster] += 1;
        }
        let alone: Vec<Cluster> =
            (0..clusters.len()).filter(|cluster| landmarks[*cluster] == 1).collect();
        let step = alone.len().div_ceil(ASKED).max(1);
        let asked = alone.iter().step_by(step);
        let spreads: Vec<f64> = asked
            .map(|cluster| spread_ms(clusters, *cluster))
            .filter(|spread_ms| *spread_ms > 0.0)
            .collect();
        let (known, strays) = (members.len() as f64, (spreads.len() * step) as f64);
        let sum_ms = spreads.iter().sum::<f64>() * step as f64;
        // One more of each kind, so that neither is impossible.
        Self {
            ms: SHARE * sum_ms / known.max(1.0),
            probability: (strays + 1.0) / (known.max(strays) + 2.0),
        }
    }
}

/// How far a cluster is from the nearest other. 0 if there is none: then nothing can be said.
fn spread_ms(clusters: &[Row], cluster: Cluster) -> f64 {
    let others = clusters.iter().enumerate().filter(|(other, _)| *other != cluster);
    let spreads = others.filter_map(|(_, other)| apart_ms(&clusters[cluster], other));
    spreads.min_by(f64::total_cmp).unwrap_or(0.0)
}

/// Root of the mean square by which the times to two clusters differ, but for what access lines and
/// routes make up; `None` when no agent has measured both.
fn apart_ms(a: &Row, b: &Row) -> Option<f64> {
    let both = || a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
    let count = both().count() as f64;
    // Each end has an access line of its own.
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
    fn the_lonely_tell_how_far_others_may_be() {
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
    fn of_many_some_are_asked() {
        // Near to or far from each of sixteen agents; neighbours differ in two of them.
        let at = |n: u32| {
            (0..16).map(|bit| Some(if n >> (bit / 2) & 1 == 0 { 20.0 } else { 60.0 })).collect()
        };
        let clusters: Vec<Row> = (0..256).map(at).collect();
        let members: Vec<Cluster> = (0..256).collect();
        let all_ms =
            members.iter().map(|cluster| spread_ms(&clusters, *cluster)).sum::<f64>() / 256.0;
        let some = ClusterSpread::of(&clusters, &members);
        assert!(all_ms > 5.0 && (some.ms / SHARE / all_ms - 1.0).abs() < 0.1, "{some:?} {all_ms}");
    }

    #[test]
    fn access_lines_routes_and_agents_who_measured_one_alone_do_not_count() {
        let from = row([10.0, 50.0, 90.0]);
        for near in [[17.0, 57.0, 97.0], [10.5, 47.0, 97.0]] {
            let apart_ms = apart_ms(&from, &row(near)).unwrap();
            assert!(apart_ms < 1e-9, "{near:?} {apart_ms}");
        }
        assert_eq!(apart_ms(&vec![Some(1.0), None], &vec![None, Some(1.0)]), None);
    }
}
