//! Landmark plan: which landmarks to retire and which to add. Pure: reads and writes nothing.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use delegation::predictor::landmarks::{self, Health, LandmarkProbe};
use delegation::predictor::{Clusters, detect_anycast};
use hierarchy::{Hierarchy, SubnetId};
use model::LandmarkId;
use store::landmarks::{Landmark, LandmarkReport, LandmarkSite, Outcome};

use crate::predictor::observation::landmark_times;

/// What the plan is computed from.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlanInput<'a> {
    /// The landmarks in use, oldest first.
    pub(super) live: &'a [Landmark],
    /// The latest report of each agent on each of them; empty when health is not checked.
    pub(super) reports: &'a [LandmarkReport],
    /// Landmarks that answer in several places.
    pub(super) anycast: &'a HashSet<LandmarkId>,
    /// Targets that answered a search.
    pub(super) candidates: &'a [LandmarkSite],
    /// Landmarks that the policy allows.
    pub(super) max: usize,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LandmarkPlan {
    /// Each with the reason.
    pub(super) retired: Vec<(LandmarkId, &'static str)>,
    pub(super) chosen: Vec<LandmarkSite>,
}

const LOST: &str = "most agents get no answer, or another one than they used to";
const ANYCAST: &str = "it is near to agents that are far from each other (anycast)";
const DUPLICATE: &str = "another landmark is in the same subnet of the new hierarchy";
const OVER_LIMIT: &str = "fewer landmarks are wanted";

type Kept = HashMap<SubnetId, LandmarkId>;

/// Retires landmarks that are lost, duplicate or over the limit, replaces the lost ones, and adds
/// as many as are missing.
pub(super) fn plan_landmarks(hierarchy: &Hierarchy, input: &PlanInput<'_>) -> LandmarkPlan {
    let (mut kept, mut retired) = keep(hierarchy, input);
    let candidates: HashMap<SubnetId, &LandmarkSite> = input
        .candidates
        .iter()
        .map(|spot| (hierarchy.smallest(spot.target.address), spot))
        .collect();
    let mut subnets: Vec<SubnetId> = candidates.keys().copied().collect();
    subnets.sort_unstable();
    let rank = |subnet: SubnetId| rank(hierarchy.subnet(subnet).range().first());

    // Lost landmarks are replaced one by one, inside their country where possible, so that the
    // times of all others stay comparable.
    let health = health(hierarchy, &kept, input);
    let renewal = landmarks::renew(hierarchy, &health, &subnets, rank);
    for lost in &renewal.retired {
        if let Some(id) = kept.remove(lost) {
            retired.push((id, if input.anycast.contains(&id) { ANYCAST } else { LOST }));
        }
    }

    // Then the set is filled up towards the choice for an empty start. A subnet just retired is
    // taken too, or it would be chosen again at once.
    let taken: HashSet<SubnetId> =
        kept.keys().chain(&renewal.retired).chain(&renewal.added).copied().collect();
    let target = landmarks::target_count(subnets.len(), input.max);
    let missing = target.saturating_sub(kept.len() + renewal.added.len());
    let ideal = landmarks::choose(hierarchy, &subnets, taken.len() + missing, rank);
    let more = ideal.into_iter().filter(|subnet| !taken.contains(subnet)).take(missing);
    let chosen = renewal.added.iter().copied().chain(more);
    LandmarkPlan {
        retired,
        chosen: chosen.filter_map(|subnet| candidates.get(&subnet).copied().cloned()).collect(),
    }
}

/// The oldest landmark of each subnet, up to the limit; and the landmarks retired for that. A new
/// generation of the hierarchy may have merged the subnets of two landmarks.
fn keep(hierarchy: &Hierarchy, input: &PlanInput<'_>) -> (Kept, Vec<(LandmarkId, &'static str)>) {
    let mut kept = Kept::new();
    let mut retired = Vec::new();
    for landmark in input.live {
        let subnet = hierarchy.smallest(landmark.spot.target.address);
        if kept.contains_key(&subnet) {
            retired.push((landmark.id, DUPLICATE));
        } else if kept.len() >= input.max {
            retired.push((landmark.id, OVER_LIMIT));
        } else {
            kept.insert(subnet, landmark.id);
        }
    }
    (kept, retired)
}

fn health(hierarchy: &Hierarchy, kept: &Kept, input: &PlanInput<'_>) -> Vec<Health> {
    let probe = |report: &LandmarkReport| {
        let subnet = hierarchy.smallest(report.address);
        let (rtt_us, before_us) = match report.outcome {
            Outcome::Measured { rtt_us, before_us } => (Some(rtt_us), before_us),
            Outcome::Unreachable => (None, None),
            // The owner of the agent forbids the address, which says nothing about the landmark.
            Outcome::Refused => return None,
        };
        let is_kept = kept.get(&subnet) == Some(&report.landmark);
        is_kept.then_some(LandmarkProbe { subnet, agent: report.agent, rtt_us, before_us })
    };
    let probes: Vec<LandmarkProbe> = input.reports.iter().filter_map(probe).collect();
    let mut health = landmarks::health(&probes);
    // An anycast landmark places every agent at its nearest copy, which misleads all predictions:
    // it is replaced like one that died.
    for landmark in &mut health {
        if kept.get(&landmark.subnet).is_some_and(|id| input.anycast.contains(id)) {
            landmark.answered = 0;
        }
    }
    health
}

/// Landmarks that are near to agents far from each other.
pub(super) fn detect_anycast_landmarks(
    hierarchy: &Hierarchy,
    clusters: &Clusters,
    reports: &[LandmarkReport],
) -> HashSet<LandmarkId> {
    landmark_times(hierarchy, reports)
        .into_iter()
        .filter(|(_, landmark)| detect_anycast(clusters, &landmark.times_ms).is_some())
        .map(|(id, _)| id)
        .collect()
}

/// Pseudo-random order that is the same in every generation: the finalizer of SplitMix64 of the
/// first address.
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
