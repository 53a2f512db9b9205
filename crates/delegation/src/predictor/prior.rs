//! How often subnets of this registry, country and company turned out to be at each cluster.

use std::collections::HashMap;

use hierarchy::{CompanyId, Country, Hierarchy, Registry, SubnetId};

use super::{Cluster, Clusters};

/// Counts of clusters at four levels, from "any subnet" down to "a subnet of this company".
///
/// Ids of companies and clusters belong to one generation and one survey: a new one of either needs a
/// new prior, learned again from the landmarks and the stored trails.
#[derive(Debug, Clone)]
pub struct Prior {
    clusters: usize,
    /// Probability that any subnet is at none of the clusters.
    background: f64,
    tallies: HashMap<Level, Tally>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Level {
    Any,
    Registry(Registry),
    Country(Country),
    Company(CompanyId),
}

impl Level {
    /// How many subnets of a level outweigh what is known one level up. Companies tell most, so
    /// they count soonest.
    fn trust(self) -> f64 {
        match self {
            Self::Any => 30.0,
            Self::Registry(_) => 15.0,
            Self::Country(_) => 8.0,
            Self::Company(_) => 3.0,
        }
    }
}

#[derive(Debug, Clone, Default)]
struct Tally {
    total: f64,
    /// Sorted by cluster; most companies are at one or two.
    counts: Vec<(Cluster, f64)>,
}

/// Shares below this are not remembered.
const LEAST: f64 = 0.01;
/// A subnet that was searched counts less than a landmark, because where it is was inferred from a
/// few probes.
const SEARCHED: f64 = 0.7;

impl Prior {
    /// What the landmarks themselves say.
    pub fn from_landmarks(hierarchy: &Hierarchy, clusters: &Clusters) -> Self {
        let background = clusters.background().probability;
        let mut prior = Self { clusters: clusters.len(), background, tallies: HashMap::new() };
        for (subnet, cluster) in clusters.members() {
            prior.add(hierarchy, *subnet, &[(*cluster, 1.0)]);
        }
        prior
    }

    /// Learns that `subnet` is at these clusters with these probabilities, as a [`super::Posterior`]
    /// gives them.
    pub fn add_observation(
        &mut self,
        hierarchy: &Hierarchy,
        subnet: SubnetId,
        probabilities: &[f64],
    ) {
        let likely = probabilities
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, probability)| *probability >= LEAST);
        let shares: Vec<(Cluster, f64)> =
            likely.map(|(cluster, probability)| (cluster, SEARCHED * probability)).collect();
        self.add(hierarchy, subnet, &shares);
    }

    /// The probability of each cluster, and then that of being at none of them, for a subnet about
    /// which only the hierarchy is known: the counts of its company, completed by those of its
    /// country, those by its registry's, and so on.
    pub fn probabilities(&self, hierarchy: &Hierarchy, subnet: SubnetId) -> Vec<f64> {
        let mut prior = vec![(1.0 - self.background) / self.clusters as f64; self.clusters];
        prior.push(self.background);
        for level in levels(hierarchy, subnet) {
            if let Some(tally) = self.tallies.get(&level) {
                tally.sharpen(&mut prior, level.trust());
            }
        }
        prior
    }

    fn add(&mut self, hierarchy: &Hierarchy, subnet: SubnetId, shares: &[(Cluster, f64)]) {
        for level in levels(hierarchy, subnet) {
            self.tallies.entry(level).or_default().add(shares);
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

impl Tally {
    fn add(&mut self, shares: &[(Cluster, f64)]) {
        for (cluster, share) in shares {
            self.total += share;
            match self.counts.binary_search_by_key(cluster, |(counted, _)| *counted) {
                Ok(index) => self.counts[index].1 += share,
                Err(index) => self.counts.insert(index, (*cluster, *share)),
            }
        }
    }

    fn sharpen(&self, prior: &mut [f64], trust: f64) {
        let kept = trust / (self.total + trust);
        for probability in prior.iter_mut() {
            *probability *= kept;
        }
        for (cluster, count) in &self.counts {
            prior[*cluster] += count / (self.total + trust);
        }
    }
}
