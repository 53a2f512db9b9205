//! Which subnets to take as landmarks.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use hierarchy::{CompanyId, Country, Hierarchy, SubnetId};

/// How many landmarks: a few hundred find nearly as good agents; this many save a tenth of the later probes.
pub const COUNT: usize = 1500;
/// Countries get landmarks by this power of their number of subnets: a little less than in proportion, because the
/// tenth landmark in a small country tells less than the first.
const POWER: f64 = 0.9;

/// Chooses `count` of the subnets in `answering` (fewer when there are fewer), spread over countries by Adams's rule of
/// apportionment: every country gets its first landmark before any gets a second. Within a country companies come
/// once each before any comes again. `rank` breaks ties: pass something seeded and random-looking.
pub fn choose(
    hierarchy: &Hierarchy,
    answering: &[SubnetId],
    count: usize,
    rank: impl Fn(SubnetId) -> u64,
) -> Vec<SubnetId> {
    let mut countries: BTreeMap<Option<Country>, Vec<SubnetId>> = BTreeMap::new();
    for subnet in answering {
        countries.entry(hierarchy.subnet(*subnet).country()).or_default().push(*subnet);
    }
    let mut queues: Vec<Queue> =
        countries.into_values().map(|subnets| Queue::new(hierarchy, subnets, &rank)).collect();
    let mut chosen = Vec::new();
    while chosen.len() < count {
        let strongest =
            queues.iter_mut().max_by(|a, b| a.claim().partial_cmp(&b.claim()).unwrap_or(Ordering::Equal));
        let Some(next) = strongest else { break };
        let Some(subnet) = next.waiting.pop() else { break };
        next.given += 1.0;
        chosen.push(subnet);
    }
    chosen
}

/// A country's subnets.
struct Queue {
    size: f64,
    given: f64,
    /// The next one last.
    waiting: Vec<SubnetId>,
}

impl Queue {
    fn new(hierarchy: &Hierarchy, mut subnets: Vec<SubnetId>, rank: impl Fn(SubnetId) -> u64) -> Self {
        subnets.sort_by_cached_key(|subnet| (rank(*subnet), *subnet));
        let size = (subnets.len() as f64).powf(POWER);
        let mut seen: HashSet<Option<CompanyId>> = HashSet::new();
        let (first, again): (Vec<_>, Vec<_>) =
            subnets.into_iter().partition(|subnet| seen.insert(hierarchy.subnet(*subnet).company()));
        let waiting = first.into_iter().chain(again).rev().collect();
        Self { size, given: 0.0, waiting }
    }

    /// Adams's priority: countries without a landmark first, the largest of them; then by size over what was given.
    fn claim(&self) -> (bool, bool, f64) {
        let none_yet = self.given < 1.0;
        (!self.waiting.is_empty(), none_yet, if none_yet { self.size } else { self.size / self.given })
    }
}
