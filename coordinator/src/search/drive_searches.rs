//! Searches take their next step.

use model::SearchId;
use store::searches::{self, Look, Which};

use crate::runtime::outcome::Outcome;
use crate::search::DelegationSearch;
use crate::search::walk::Walk;

/// Searches read at once.
const BATCH: u32 = 1_024;

/// Drives the searches for subnets that nobody crawls yet: asks the next agent, or decides.
pub async fn run(parts: &DelegationSearch) -> Result<Outcome, anyhow::Error> {
    drive(parts, Which::Urgent).await
}

/// Goes on with searches though somebody crawls their subnets for the time being: an agent that
/// slept may be nearer.
pub async fn improve(parts: &DelegationSearch) -> Result<Outcome, anyhow::Error> {
    drive(parts, Which::Provisional).await
}

async fn drive(parts: &DelegationSearch, which: Which) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = parts.hierarchy.current() else { return Ok(Outcome::Idle) };
    let mut walk = Walk::begin(parts, delegated).await?;
    let look = look(parts, which);
    let after = |search| searches::going_on(&parts.store, look, search, BATCH);
    let mut batch = after(SearchId::new(0)).await?;
    while let Some(last) = batch.last() {
        // Postgres reads the next ones while these are thought out.
        let (next, walked) = tokio::join!(after(last.id), walk.over(&batch));
        walked?;
        batch = next?;
    }
    Ok(walk.end().map_or(Outcome::Idle, Outcome::Done))
}

fn look(parts: &DelegationSearch, which: Which) -> Look {
    let policy = parts.policy.load();
    let overdue = parts.clock.now().plus_ms(-i64::from(policy.patience_ms));
    Look { which, pending: policy.parallel, overdue }
}
