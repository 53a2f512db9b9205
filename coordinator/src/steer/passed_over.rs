//! Whom a search passed over; it is written down with the decision.

use delegation::{Asked, Availability, Reason, Roster, Skip, Steering, candidates, skipped};
use hierarchy::SubnetId;
use protocol::AgentId;
use store::searches::Skipped;

use crate::atlas::Atlas;

/// Agents that are kept by name; more of them tell no more.
const KEPT: usize = 100;

/// Where a search stands that is about to decide.
pub struct Moment<'a> {
    /// The map it was thought out on.
    pub atlas: &'a Atlas,
    /// What admins decided beforehand.
    pub steering: &'a Steering,
    /// Everybody who works, excluded or not.
    pub roster: &'a Roster,
    /// Its subnet.
    pub subnet: SubnetId,
    /// Who was asked.
    pub trail: &'a [Asked],
}

/// Whom a search passed over on its way to this decision; `spent` says who has used up its probes
/// of the day.
pub fn passed_over(
    moment: &Moment<'_>,
    decision: (Reason, AgentId),
    spent: impl Fn(AgentId) -> bool,
) -> Vec<Skipped> {
    let Moment { atlas, steering, roster, subnet, trail } = *moment;
    // A prediction leaves out whom it was not allowed to think of, and nobody else.
    if decision.0 == Reason::Predicted && steering.exclusions().is_empty() {
        return Vec::new();
    }
    let hierarchy = atlas.hierarchy();
    let why = |agent: AgentId| {
        let excluded = steering.exclusion(hierarchy, subnet, agent).map(|_| Skip::Excluded);
        excluded.or_else(|| match unavailable(roster.availability(agent)?) {
            Some(Skip::Busy) if spent(agent) => Some(Skip::Budget),
            seen => seen,
        })
    };
    let book = atlas.book();
    let found = skipped(candidates(hierarchy, &book, roster, subnet), trail, decision, why);
    let named =
        found.into_iter().map(|(agent, skip)| Skipped { agent, why: skip.as_str().to_owned() });
    named.take(KEPT).collect()
}

fn unavailable(availability: Availability) -> Option<Skip> {
    match availability {
        Availability::Ready => None,
        Availability::Busy => Some(Skip::Busy),
        Availability::Asleep => Some(Skip::Asleep),
        Availability::Unreachable => Some(Skip::Unreachable),
    }
}
