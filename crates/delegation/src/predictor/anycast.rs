//! Anycast detection: subnets that answer near agents which are far from each other.
//!
//! The path from one agent over a subnet to another agent is never much shorter than the path
//! between the two, if the subnet is in one location. Landmarks give a lower bound of the distance
//! between two agents: the difference of their times to any one landmark.

use model::AgentId;

use super::Clusters;

/// The way over the subnet must be this much shorter than the way between the agents: routes make
/// detours.
const SHORTCUT: f64 = 0.6;
/// Agents closer to each other than this prove nothing, in milliseconds.
const APART_MS: f64 = 40.0;
/// So many clusters must show that two agents are apart: one landmark may be odd.
const CLUSTERS: usize = 3;

/// Two agents that are both too near to a subnet for it to be one cluster. Such a subnet is near to
/// many: any of them may crawl it, which makes it free mass for balancing.
pub fn detect_anycast(
    clusters: &Clusters,
    times_ms: &[(AgentId, f64)],
) -> Option<(AgentId, AgentId)> {
    let pairs = times_ms
        .iter()
        .enumerate()
        .flat_map(|(n, a)| times_ms[n + 1..].iter().map(move |b| (a, b)));
    let mut witnesses = pairs.filter(|((a, a_ms), (b, b_ms))| {
        let apart_ms = apart_ms(clusters, *a, *b);
        apart_ms >= APART_MS && a_ms + b_ms < SHORTCUT * apart_ms
    });
    witnesses.next().map(|((a, _), (b, _))| (*a, *b))
}

/// How far two agents are apart at least.
fn apart_ms(clusters: &Clusters, a: AgentId, b: AgentId) -> f64 {
    let differences = (0..clusters.len()).filter_map(|cluster| {
        Some((clusters.time_ms(cluster, a)? - clusters.time_ms(cluster, b)?).abs())
    });
    let mut differences: Vec<f64> = differences.collect();
    differences.sort_by(|a, b| b.total_cmp(a));
    differences.get(CLUSTERS - 1).copied().unwrap_or(0.0)
}
