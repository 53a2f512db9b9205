//! Background tasks: take the next step of every open search.

use model::SearchId;
use store::searches::{self, OpenSearchFilter, SearchKind};

use crate::runtime::outcome::Outcome;
use crate::search::DelegationSearch;
use crate::search::round::SearchRound;

/// Searches that are read at once.
const BATCH: u32 = 1_024;

/// Advances the searches for subnets without an agent: asks the next agent, or decides.
pub async fn run(parts: &DelegationSearch) -> Result<Outcome, anyhow::Error> {
    drive(parts, SearchKind::Undelegated).await
}

/// Advances the searches for subnets with a provisional agent: an agent that was asleep when the
/// search passed it may be nearer.
pub async fn improve(parts: &DelegationSearch) -> Result<Outcome, anyhow::Error> {
    drive(parts, SearchKind::Provisional).await
}

async fn drive(parts: &DelegationSearch, kind: SearchKind) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = parts.hierarchy.current() else { return Ok(Outcome::Idle) };
    let mut round = SearchRound::begin(parts, delegated).await?;
    let policy = parts.policy.load();
    let opened_until = parts.clock.now().plus_ms(-i64::from(policy.patience_ms));
    let filter = OpenSearchFilter { kind, pending: policy.parallel, opened_until };
    let read_after = |search| searches::list_open(&parts.store, filter, search, BATCH);
    let mut batch = read_after(SearchId::new(0)).await?;
    while let Some(last) = batch.last() {
        // Postgres reads the next batch while the steps of this one are computed.
        let (next, advanced) = tokio::join!(read_after(last.id), round.advance(&batch));
        advanced?;
        batch = next?;
    }
    Ok(round.finish().map_or(Outcome::Idle, Outcome::Done))
}
