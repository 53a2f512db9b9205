//! Anycast detection: subnets that answer near agents which are far from each other.
//!
//! The path from one agent over a subnet to another agent is never much shorter than the path
//! between the two, if the subnet is in one location. Landmarks give a lower bound of the distance
//! between two agents: the difference of their times to any one landmark.

use model::AgentId;

use super::Clusters;

/// Share of the path between two agents below which the path over the subnet proves anycast: routes
/// make detours.
const SHORTCUT: f64 = 0.6;
/// Milliseconds that two agents must be apart to prove anything.
const APART_MS: f64 = 40.0;
/// Clusters that must show that two agents are apart: a single landmark may be irregular.
const MIN_CLUSTERS: usize = 3;

/// Two agents that are both too near to a subnet for it to be in one location; `None` without such
/// a pair. An anycast subnet is near to many agents, and balance may give it to any of them.
pub fn detect_anycast(
    clusters: &Clusters,
    times_ms: &[(AgentId, f64)],
) -> Option<(AgentId, AgentId)> {
    let pairs = times_ms
        .iter()
        .enumerate()
        .flat_map(|(n, a)| times_ms[n + 1..].iter().map(move |b| (a, b)));
    let mut proofs = pairs.filter(|((a, a_ms), (b, b_ms))| {
        let apart_ms = apart_ms(clusters, *a, *b);
        apart_ms >= APART_MS && a_ms + b_ms < SHORTCUT * apart_ms
    });
    proofs.next().map(|((a, _), (b, _))| (*a, *b))
}

/// Lower bound of the time between two agents.
fn apart_ms(clusters: &Clusters, a: AgentId, b: AgentId) -> f64 {
    let differences = (0..clusters.len()).filter_map(|cluster| {
        Some((clusters.time_ms(cluster, a)? - clusters.time_ms(cluster, b)?).abs())
    });
    let mut differences: Vec<f64> = differences.collect();
    differences.sort_by(|a, b| b.total_cmp(a));
    differences.get(MIN_CLUSTERS - 1).copied().unwrap_or(0.0)
}
