//! Whom a search passed over, written down with its decision.

use delegation::budget::{Allowance, Ledger};
use delegation::{Asked, Availability, Reason, Roster, Skip, Steering, candidates, skipped};
use hierarchy::SubnetId;
use protocol::AgentId;
use store::StoreError;
use store::searches::{self, OpenSearch, Skipped};

use crate::atlas::Atlas;
use crate::state::Coordinator;

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
    /// Probes a day.
    pub allowance: &'a Allowance,
    /// Its subnet.
    pub subnet: SubnetId,
    /// Who was asked.
    pub trail: &'a [Asked],
}

/// Writes down whom `search` passed over on its way to this decision.
pub async fn note(
    coordinator: &Coordinator,
    search: &OpenSearch,
    moment: &Moment<'_>,
    decision: (Reason, AgentId),
) -> Result<(), StoreError> {
    if decision.0 == Reason::Predicted && moment.steering.exclusions().is_empty() {
        return Ok(());
    }
    let now = coordinator.now();
    let spent = |agent| {
        let spending = &coordinator.insight.spending;
        let seen =
            |ledger: &mut Ledger| ledger.availability(moment.allowance, agent, Availability::Ready, now);
        spending.ledger(seen) == Availability::Busy
    };
    let found = passed_over(moment, decision, spent);
    if found.is_empty() {
        return Ok(());
    }
    searches::note_skipped(&coordinator.store, search.id, &found).await
}

fn passed_over(
    moment: &Moment<'_>,
    decision: (Reason, AgentId),
    spent: impl Fn(AgentId) -> bool,
) -> Vec<Skipped> {
    let Moment { atlas, steering, roster, subnet, trail, .. } = *moment;
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
    let named = found.into_iter().map(|(agent, skip)| Skipped { agent, why: skip.as_str().to_owned() });
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
