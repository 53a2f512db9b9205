//! Background task: audits the delegations in the database by the rules of `delegation::audit`.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use delegation::audit::{AuditedAgent, AuditedDelegation, Finding, audit};
use hierarchy::{Generation, Hierarchy, Range};
use model::UnixMillis;
use store::loads::{self, Work};
use store::{Store, StoreError, delegations};

use crate::placement::Placement;
use crate::placement::load_snapshot::{SubnetLoads, capacity_of};
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Findings that are logged one by one.
const MAX_LOGGED: usize = 20;

/// The result of one audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditReport {
    /// When it was made.
    pub at: UnixMillis,
    pub findings: Vec<Finding>,
}

/// The last report; `None` before the first audit.
pub type LastAudit = ArcSwapOption<AuditReport>;

/// What findings depend on: without a change, an audit would find the same.
#[derive(Debug, PartialEq, Eq)]
pub struct AuditInput {
    /// Version of the delegation table, which follows the store.
    version: u64,
    agents: Vec<AuditedAgent>,
}

/// Audits the delegations and shows the findings. What a remap repairs is repaired by the next run
/// of `reload_hierarchy`, which the leader then does again.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = placement.hierarchy.current() else { return Ok(Outcome::Idle) };
    let now = placement.clock.now();
    // Agents that are not revoked; pausing ends no delegation.
    let works = loads::agents(&placement.store, now).await?;
    let agents = works.iter().map(|work| audited(work, 0, now)).collect();
    let input = AuditInput { version: delegated.version(), agents };
    let mut last_input = placement.audited.lock().await;
    if last_input.as_ref() == Some(&input) {
        return Ok(Outcome::Idle);
    }
    let report = audit_of(&placement.store, delegated.hierarchy(), &works, now).await?;
    let count = report.findings.len();
    let before = placement.last_audit.load_full();
    // Findings that stay are logged once.
    let changed = before.is_none_or(|before| before.findings != report.findings);
    if changed {
        for finding in report.findings.iter().take(MAX_LOGGED) {
            tracing::warn!(finding = finding.as_str(), "{finding}");
        }
        if report.findings.iter().any(Finding::is_repaired_by_remap) {
            placement.hierarchy.set_remapped(Generation::new(0));
        }
    }
    placement.last_audit.store(Some(Arc::new(report)));
    *last_input = Some(input);
    Ok(if changed {
        Outcome::Done(format!("found {} to repair", quantity(count, "thing")))
    } else {
        Outcome::Idle
    })
}

/// An agent with its capacity while it holds subnets of this load.
fn audited(work: &Work, load: u64, now: UnixMillis) -> AuditedAgent {
    AuditedAgent { agent: work.agent, capacity: capacity_of(work, work.held.max(load), now) }
}

/// Audits the delegations that hold against a hierarchy. A range that the hierarchy does not have
/// counts as an orphan, also if it is from another generation.
pub async fn audit_delegations(
    store: &Store,
    hierarchy: &Hierarchy,
    now: UnixMillis,
) -> Result<AuditReport, StoreError> {
    let works = loads::agents(store, now).await?;
    audit_of(store, hierarchy, &works, now).await
}

/// Audits with the agents as they were just read.
async fn audit_of(
    store: &Store,
    hierarchy: &Hierarchy,
    works: &[Work],
    now: UnixMillis,
) -> Result<AuditReport, StoreError> {
    let loads = SubnetLoads::all(store, now).await?;
    let stale = delegations::stale(store, hierarchy.generation()).await?;
    let stale: HashMap<Range, Generation> = stale.into_iter().collect();
    let held = delegations::list_active(store).await?;
    let entries: Vec<AuditedDelegation> = held
        .iter()
        .map(|held| AuditedDelegation {
            range: held.subnet,
            agent: held.agent,
            reason: held.reason,
            generation: stale.get(&held.subnet).copied().unwrap_or(hierarchy.generation()),
            load: loads.pages_a_day(&held.subnet),
        })
        .collect();
    let loads = loads.by_agent(&held);
    let load = |agent| loads.get(&agent).copied().unwrap_or(0);
    let agents: Vec<AuditedAgent> =
        works.iter().map(|work| audited(work, load(work.agent), now)).collect();
    Ok(AuditReport { at: now, findings: audit(hierarchy, &agents, &entries) })
}
