//! Whom a search passed over; it is written down with the decision.

use delegation::{Availability, AvailableAgents, Constraints, TrailProbe, candidates, skipped};
use hierarchy::SubnetId;
use model::{AgentId, Reason, SkipReason};
use store::delegations::Skipped;

use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// Agents that are kept by name; more of them tell no more.
const KEPT: usize = 100;

/// Where a search stands that is about to decide.
pub(super) struct Moment<'a> {
    /// The map it was thought out on.
    pub(super) delegated: &'a DelegatedHierarchy,
    /// What admins decided beforehand.
    pub(super) constraints: &'a Constraints,
    /// Everybody who works, excluded or not.
    pub(super) roster: &'a AvailableAgents,
    /// Its subnet.
    pub(super) subnet: SubnetId,
    /// Who was asked.
    pub(super) trail: &'a [TrailProbe],
}

/// Whom a search passed over on its way to this decision; `spent` says who has used up its probes
/// of the day.
pub(super) fn passed_over(
    moment: &Moment<'_>,
    decision: (Reason, AgentId),
    spent: impl Fn(AgentId) -> bool,
) -> Vec<Skipped> {
    let Moment { delegated, constraints, roster, subnet, trail } = *moment;
    // A prediction leaves out whom it was not allowed to think of, and nobody else.
    if decision.0 == Reason::Predicted && constraints.exclusions().is_empty() {
        return Vec::new();
    }
    let hierarchy = delegated.hierarchy();
    let why = |agent: AgentId| {
        let excluded =
            constraints.exclusion(hierarchy, subnet, agent).map(|_| SkipReason::Excluded);
        excluded.or_else(|| match unavailable(roster.availability(agent)?) {
            Some(SkipReason::Busy) if spent(agent) => Some(SkipReason::Budget),
            seen => seen,
        })
    };
    let delegation_table = delegated.delegation_table();
    let found =
        skipped(candidates(hierarchy, &delegation_table, roster, subnet), trail, decision, why);
    let named = found.into_iter().map(|(agent, why)| Skipped { agent, why });
    named.take(KEPT).collect()
}

fn unavailable(availability: Availability) -> Option<SkipReason> {
    match availability {
        Availability::Ready => None,
        Availability::Busy => Some(SkipReason::Busy),
        Availability::Asleep => Some(SkipReason::Asleep),
        Availability::Unreachable => Some(SkipReason::Unreachable),
    }
}
