//! Does the delegation table of delegations make sense? Read from the database, judged by `delegation::audit`.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use delegation::audit::{AuditedAgent, AuditedDelegation, Finding, audit};
use hierarchy::Hierarchy;
use model::UnixMillis;
use store::loads;
use store::{Store, StoreError, delegations};

use crate::placement::load_snapshot::capacity_of;

/// What an audit found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audited {
    /// When it looked.
    pub at: UnixMillis,
    /// What should not be.
    pub findings: Vec<Finding>,
}

/// The last audit; none before the first.
#[derive(Debug, Default)]
pub struct LastAudit {
    last: ArcSwapOption<Audited>,
}

impl LastAudit {
    /// It.
    pub fn get(&self) -> Option<Arc<Audited>> {
        self.last.load_full()
    }

    /// Puts another in its place.
    pub fn set(&self, audited: Audited) {
        self.last.store(Some(Arc::new(audited)));
    }
}

/// Audits the delegations that hold against a hierarchy. A range that the hierarchy does not have
/// counts as an orphan, whatever generation it is from.
pub async fn look(
    store: &Store,
    hierarchy: &Hierarchy,
    now: UnixMillis,
) -> Result<Audited, StoreError> {
    let works = loads::agents(store, now).await?;
    let agents: Vec<AuditedAgent> = works
        .iter()
        .map(|work| AuditedAgent {
            agent: work.agent,
            capacity: capacity_of(work, now),
            active: work.approved,
        })
        .collect();
    let loads = loads::subnets(store, now).await?;
    let held = delegations::held(store).await?;
    let entries: Vec<AuditedDelegation> = held
        .iter()
        .map(|held| AuditedDelegation {
            range: held.subnet,
            agent: held.agent,
            reason: held.reason,
            generation: hierarchy.generation(),
            load: loads.get(&held.subnet).copied().unwrap_or(1).max(1),
        })
        .collect();
    Ok(Audited { at: now, findings: audit(hierarchy, &agents, &entries) })
}
