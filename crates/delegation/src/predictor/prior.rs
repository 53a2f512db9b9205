//! Prior of a subnet: how often subnets of its registry, country and company were at each cluster.

use std::collections::HashMap;

use hierarchy::{CompanyId, Country, Hierarchy, Registry, SubnetId};

use super::{Cluster, Clusters};

/// Counts of clusters at four levels, from "any subnet" down to "a subnet of this company".
///
/// Ids of companies and clusters belong to one generation and one model fit: a new one of either
/// needs a new prior, built again from the landmarks and the stored trails.
#[derive(Debug, Clone)]
pub struct Prior {
    clusters: usize,
    /// Probability that any subnet is at the background cluster.
    background: f64,
    counts: HashMap<Level, Counts>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Level {
    Any,
    Registry(Registry),
    Country(Country),
    Company(CompanyId),
}

impl Level {
    /// Number of subnets of a level that weigh as much as what is known one level up. Companies say
    /// most about their subnets, so they count soonest.
    fn smoothing(self) -> f64 {
        match self {
            Self::Any => 30.0,
            Self::Registry(_) => 15.0,
            Self::Country(_) => 8.0,
            Self::Company(_) => 3.0,
        }
    }
}

#[derive(Debug, Clone, Default)]
struct Counts {
    total: f64,
    /// Sorted by cluster; most companies are at one or two.
    by_cluster: Vec<(Cluster, f64)>,
}

/// Probabilities below this are not counted.
const MIN_COUNTED: f64 = 0.01;
/// Weight of a searched subnet against that of a landmark: its cluster was inferred from a few
/// probes.
const SEARCHED_WEIGHT: f64 = 0.7;

impl Prior {
    /// The prior of the landmarks alone.
    pub fn from_landmarks(hierarchy: &Hierarchy, clusters: &Clusters) -> Self {
        let background = clusters.background().probability;
        let mut prior = Self { clusters: clusters.len(), background, counts: HashMap::new() };
        for (subnet, cluster) in clusters.members() {
            prior.add(hierarchy, *subnet, &[(*cluster, 1.0)]);
        }
        prior
    }

    /// Adds the observation that `subnet` is at each cluster with these probabilities, which are
    /// those of [`super::Posterior::probabilities`].
    pub fn add_observation(
        &mut self,
        hierarchy: &Hierarchy,
        subnet: SubnetId,
        probabilities: &[f64],
    ) {
        let likely = probabilities.iter().enumerate();
        let likely = likely.filter(|(_, probability)| **probability >= MIN_COUNTED);
        let counts: Vec<(Cluster, f64)> =
            likely.map(|(cluster, probability)| (cluster, SEARCHED_WEIGHT * probability)).collect();
        self.add(hierarchy, subnet, &counts);
    }

    /// Probability of each cluster and then of the background cluster, for a subnet of which only
    /// the hierarchy is known: the counts of its company, smoothed by those of its country, those
    /// by its registry's, and so on.
    pub fn probabilities(&self, hierarchy: &Hierarchy, subnet: SubnetId) -> Vec<f64> {
        let uniform = (1.0 - self.background) / self.clusters as f64;
        let mut probabilities = vec![uniform; self.clusters];
        probabilities.push(self.background);
        for level in levels(hierarchy, subnet) {
            if let Some(counts) = self.counts.get(&level) {
                counts.update(&mut probabilities, level.smoothing());
            }
        }
        probabilities
    }

    fn add(&mut self, hierarchy: &Hierarchy, subnet: SubnetId, counts: &[(Cluster, f64)]) {
        for level in levels(hierarchy, subnet) {
            self.counts.entry(level).or_default().add(counts);
        }
    }
}

/// The levels of a subnet, the widest first.
fn levels(hierarchy: &Hierarchy, subnet: SubnetId) -> impl Iterator<Item = Level> + use<> {
    let subnet = hierarchy.subnet(subnet);
    let registry = subnet.registry().map(Level::Registry);
    let country = subnet.country().map(Level::Country);
    let company = subnet.company().map(Level::Company);
    std::iter::once(Level::Any).chain(registry).chain(country).chain(company)
}

impl Counts {
    fn add(&mut self, counts: &[(Cluster, f64)]) {
        for (cluster, count) in counts {
            self.total += count;
            match self.by_cluster.binary_search_by_key(cluster, |(counted, _)| *counted) {
                Ok(index) => self.by_cluster[index].1 += count,
                Err(index) => self.by_cluster.insert(index, (*cluster, *count)),
            }
        }
    }

    /// Mixes the counts into the probabilities of the level above.
    fn update(&self, probabilities: &mut [f64], smoothing: f64) {
        let kept = smoothing / (self.total + smoothing);
        for probability in probabilities.iter_mut() {
            *probability *= kept;
        }
        for (cluster, count) in &self.by_cluster {
            probabilities[*cluster] += count / (self.total + smoothing);
        }
    }
}
