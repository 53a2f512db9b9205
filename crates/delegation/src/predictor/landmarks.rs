//! Choice and replacement of the landmark subnets.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use hierarchy::{CompanyId, Country, Hierarchy, SubnetId};
use model::AgentId;

/// Default number of landmarks: a few hundred find nearly as good agents; this many save a tenth of
/// the later probes.
pub const COUNT: usize = 1500;
/// Countries get landmarks by this power of their number of subnets: a little less than in
/// proportion, because the tenth landmark of a small country says less than the first.
const POWER: f64 = 0.9;

/// Least number of landmarks for a prediction: with fewer, most subnets would be at the background
/// cluster.
pub const MIN_LANDMARKS: usize = 8;

/// Landmarks that are worth having however few subnets there are.
const ALWAYS: usize = 48;
/// Subnets per landmark beyond [`ALWAYS`]: landmarks cost probes, and save them only where there is
/// much to search.
const SUBNETS_EACH: usize = 4;

/// Number of landmarks to have when `answering` subnets are known and at most `most` are allowed:
/// none while they would be too few for a prediction.
pub fn target_count(answering: usize, most: usize) -> usize {
    if answering < MIN_LANDMARKS {
        return 0;
    }
    ALWAYS.max(answering / SUBNETS_EACH).min(most)
}

/// Chooses `count` of the subnets in `answering` (fewer when there are fewer), spread over
/// countries by Adams's rule of apportionment: every country gets its first landmark before any
/// gets a second. Within a country each company gets one before any gets a second. `rank` breaks
/// ties and should look random.
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
        let next = queues
            .iter_mut()
            .max_by(|a, b| a.priority().partial_cmp(&b.priority()).unwrap_or(Ordering::Equal));
        let Some(next) = next else { break };
        let Some(subnet) = next.waiting.pop() else { break };
        next.given += 1.0;
        chosen.push(subnet);
    }
    chosen
}

/// Latest probes of one landmark, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    pub subnet: SubnetId,
    /// Agents that probed it.
    pub asked: u32,
    /// Those of them that got an answer.
    pub answered: u32,
    /// Those of them whose round trip was far from what it used to be.
    pub moved: u32,
}

/// Landmarks that stay, and those that replace the lost ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renewal {
    /// Landmarks that stay, in their old order.
    pub kept: Vec<SubnetId>,
    pub retired: Vec<SubnetId>,
    /// New landmarks; as many as were retired, fewer when no more subnets answer.
    pub added: Vec<SubnetId>,
}

/// An agent's latest probe of a landmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LandmarkProbe {
    pub subnet: SubnetId,
    /// The agent that probed it.
    pub agent: AgentId,
    /// Round trip in microseconds; none without an answer.
    pub rtt_us: Option<u32>,
    /// Round trip of the probe before, in microseconds, by the same agent.
    pub before_us: Option<u32>,
}

/// Microseconds by which a round trip must differ from the one before to count as moved; it must
/// differ by half of the larger one, too.
const MOVED_US: u32 = 20_000;

/// Health of each landmark. An agent that gets no answer from most landmarks has itself no
/// connection, so its probes are ignored.
pub fn health(probes: &[LandmarkProbe]) -> Vec<Health> {
    let mut by_agent: BTreeMap<AgentId, (u32, u32)> = BTreeMap::new();
    for probe in probes {
        let (asked, answered) = by_agent.entry(probe.agent).or_default();
        *asked += 1;
        *answered += u32::from(probe.rtt_us.is_some());
    }
    let is_disconnected =
        |agent| by_agent.get(&agent).is_some_and(|(asked, answered)| 2 * answered < *asked);
    let mut healths: BTreeMap<SubnetId, Health> = BTreeMap::new();
    for probe in probes.iter().filter(|probe| !is_disconnected(probe.agent)) {
        let subnet = probe.subnet;
        let health =
            healths.entry(subnet).or_insert(Health { subnet, asked: 0, answered: 0, moved: 0 });
        health.asked += 1;
        health.answered += u32::from(probe.rtt_us.is_some());
        health.moved += u32::from(probe.has_moved());
    }
    healths.into_values().collect()
}

impl LandmarkProbe {
    fn has_moved(&self) -> bool {
        let (Some(now), Some(before)) = (self.rtt_us, self.before_us) else { return false };
        let difference = now.abs_diff(before);
        difference > MOVED_US && difference > now.max(before) / 2
    }
}

impl Health {
    /// Whether most agents get no answer, or another one than before: it is gone, or moved.
    pub fn is_lost(&self) -> bool {
        self.asked > 0 && (2 * self.answered < self.asked || 2 * self.moved > self.asked)
    }
}

/// Retires the lost landmarks. Each is replaced by a subnet of its own country, of a company
/// without a landmark where there is one; where the country has no more, by one that [`choose`]
/// would take. A landmark that no agent probed is kept.
pub fn renew(
    hierarchy: &Hierarchy,
    landmarks: &[Health],
    answering: &[SubnetId],
    rank: impl Fn(SubnetId) -> u64,
) -> Renewal {
    let (retired, kept): (Vec<_>, Vec<_>) =
        landmarks.iter().partition(|landmark| landmark.is_lost());
    let of =
        |landmarks: Vec<&Health>| landmarks.into_iter().map(|landmark| landmark.subnet).collect();
    let mut renewal = Renewal { kept: of(kept), retired: of(retired), added: Vec::new() };
    let mut taken: HashSet<SubnetId> = landmarks.iter().map(|landmark| landmark.subnet).collect();
    let company = |subnet: SubnetId| hierarchy.subnet(subnet).company();
    let mut companies: HashSet<Option<CompanyId>> =
        renewal.kept.iter().map(|subnet| company(*subnet)).collect();
    for lost in &renewal.retired {
        let country = hierarchy.subnet(*lost).country();
        let free: Vec<SubnetId> =
            answering.iter().copied().filter(|subnet| !taken.contains(subnet)).collect();
        let near = free.iter().filter(|subnet| hierarchy.subnet(**subnet).country() == country);
        let best = near.min_by_key(|subnet| {
            (companies.contains(&company(**subnet)), rank(**subnet), **subnet)
        });
        let next = best.copied().or_else(|| choose(hierarchy, &free, 1, &rank).first().copied());
        let Some(next) = next else { break };
        taken.insert(next);
        companies.insert(company(next));
        renewal.added.push(next);
    }
    renewal
}

/// Subnets of one country.
struct Queue {
    /// Number of subnets to the power of [`POWER`].
    size: f64,
    /// Landmarks that the country got so far.
    given: f64,
    /// The next landmark is the last.
    waiting: Vec<SubnetId>,
}

impl Queue {
    fn new(
        hierarchy: &Hierarchy,
        mut subnets: Vec<SubnetId>,
        rank: impl Fn(SubnetId) -> u64,
    ) -> Self {
        subnets.sort_by_cached_key(|subnet| (rank(*subnet), *subnet));
        let size = (subnets.len() as f64).powf(POWER);
        let mut seen: HashSet<Option<CompanyId>> = HashSet::new();
        let (first, again): (Vec<_>, Vec<_>) = subnets
            .into_iter()
            .partition(|subnet| seen.insert(hierarchy.subnet(*subnet).company()));
        let waiting = first.into_iter().chain(again).rev().collect();
        Self { size, given: 0.0, waiting }
    }

    /// Priority by Adams's rule: countries without a landmark first, the largest of them; then by
    /// size over the landmarks that the country got.
    fn priority(&self) -> (bool, bool, f64) {
        let none_yet = self.given < 1.0;
        (
            !self.waiting.is_empty(),
            none_yet,
            if none_yet { self.size } else { self.size / self.given },
        )
    }
}
