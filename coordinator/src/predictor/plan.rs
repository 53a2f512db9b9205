//! Which landmarks to have.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use delegation::predictor::Clusters;
use delegation::predictor::detect_anycast;
use delegation::predictor::landmarks::{self as choosing, Health, LandmarkProbe};
use hierarchy::{Hierarchy, SubnetId};
use model::{AgentId, LandmarkId};
use store::landmarks::{Landmark, Measured, Outcome, Spot};

/// What is known when landmarks are chosen.
#[derive(Debug, Clone, Copy)]
pub struct State<'a> {
    /// The landmarks in use.
    pub live: &'a [Landmark],
    /// What was measured at them.
    pub times: &'a [Measured],
    /// Those near to agents that are far from each other.
    pub anycast: &'a HashSet<LandmarkId>,
    /// Subnets to choose from.
    pub answering: &'a [Spot],
    /// Most landmarks to have.
    pub most: usize,
}

/// What shall change.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Landmarks to strike off, and why.
    pub retired: Vec<(LandmarkId, &'static str)>,
    /// Landmarks to have from now on.
    pub chosen: Vec<Spot>,
}

const LOST: &str = "most agents get no answer, or another one than they used to";
const EVERYWHERE: &str = "it is near to agents that are far from each other (anycast)";
const DOUBLE: &str = "another landmark is in the same subnet of the new hierarchy";
const MANY: &str = "fewer landmarks are wanted";

/// Strikes off what is lost, doubled or too much; replaces what is lost, and adds what there is
/// room for.
pub fn plan(hierarchy: &Hierarchy, state: &State<'_>) -> Plan {
    let (mut kept, mut retired) = keep(hierarchy, state);
    let spots: HashMap<SubnetId, &Spot> = state
        .answering
        .iter()
        .map(|spot| (hierarchy.smallest(spot.target.address), spot))
        .collect();
    let mut answering: Vec<SubnetId> = spots.keys().copied().collect();
    answering.sort_unstable();
    let rank = |subnet: SubnetId| rank(hierarchy.subnet(subnet).range().first());
    let health = health(hierarchy, &kept, state);
    let renewal = choosing::renew(hierarchy, &health, &answering, rank);
    for lost in &renewal.retired {
        if let Some(id) = kept.remove(lost) {
            retired.push((id, if state.anycast.contains(&id) { EVERYWHERE } else { LOST }));
        }
    }
    let taken: HashSet<SubnetId> =
        kept.keys().chain(&renewal.retired).chain(&renewal.added).copied().collect();
    let has = kept.len() + renewal.added.len();
    let room = choosing::target_count(answering.len(), state.most).saturating_sub(has);
    let ideal = choosing::choose(hierarchy, &answering, taken.len() + room, rank);
    let more = ideal.into_iter().filter(|subnet| !taken.contains(subnet)).take(room);
    let chosen = renewal.added.iter().copied().chain(more);
    Plan {
        retired,
        chosen: chosen.filter_map(|subnet| spots.get(&subnet).copied().cloned()).collect(),
    }
}

type Kept = HashMap<SubnetId, LandmarkId>;

/// One landmark for each subnet, the oldest, as many as are allowed.
fn keep(hierarchy: &Hierarchy, state: &State<'_>) -> (Kept, Vec<(LandmarkId, &'static str)>) {
    let (mut kept, mut retired) = (Kept::new(), Vec::new());
    for landmark in state.live {
        let subnet = hierarchy.smallest(landmark.spot.target.address);
        if kept.contains_key(&subnet) {
            retired.push((landmark.id, DOUBLE));
        } else if kept.len() >= state.most {
            retired.push((landmark.id, MANY));
        } else {
            kept.insert(subnet, landmark.id);
        }
    }
    (kept, retired)
}

/// How the landmarks do. One that is anycast is as good as dead.
fn health(hierarchy: &Hierarchy, kept: &Kept, state: &State<'_>) -> Vec<Health> {
    let report = |time: &Measured| {
        let subnet = hierarchy.smallest(time.address);
        let (rtt_us, before_us) = match time.outcome {
            Outcome::Measured { rtt_us, before_us } => (Some(rtt_us), before_us),
            Outcome::Unreachable => (None, None),
            Outcome::Refused => return None,
        };
        let is_kept = kept.get(&subnet) == Some(&time.landmark);
        is_kept.then_some(LandmarkProbe { subnet, agent: time.agent, rtt_us, before_us })
    };
    let reports: Vec<LandmarkProbe> = state.times.iter().filter_map(report).collect();
    let mut health = choosing::health(&reports);
    for one in &mut health {
        if kept.get(&one.subnet).is_some_and(|id| state.anycast.contains(id)) {
            one.answered = 0;
        }
    }
    health
}

/// Landmarks that are near to agents far from each other.
pub fn anycast(clusters: &Clusters, times: &[Measured]) -> HashSet<LandmarkId> {
    let mut by_landmark: HashMap<LandmarkId, Vec<(AgentId, f64)>> = HashMap::new();
    for time in times {
        if let Outcome::Measured { rtt_us, .. } = time.outcome {
            by_landmark
                .entry(time.landmark)
                .or_default()
                .push((time.agent, f64::from(rtt_us) / 1000.0));
        }
    }
    let found = by_landmark
        .into_iter()
        .filter(|(_, times_ms)| detect_anycast(clusters, times_ms).is_some());
    found.map(|(id, _)| id).collect()
}

/// The same in every generation, and looks like chance (the finalizer of SplitMix64).
fn rank(first: IpAddr) -> u64 {
    let bits = match first {
        IpAddr::V4(address) => u64::from(address.to_bits()),
        IpAddr::V6(address) => (address.to_bits() >> 64) as u64 ^ address.to_bits() as u64,
    };
    let mut mixed = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
