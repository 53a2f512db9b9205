//! Decisions of searches: many in one transaction, since each commit waits for the disk.

use std::collections::BTreeMap;

use model::{AgentId, DelegationId, UnixMillis};
use sqlx::PgConnection;
use sqlx::types::Json;

use super::{Decision, DelegationOutcome, give_hosts, notify_decided};
use crate::activity::{self, Activity};
use crate::columns::int;
use crate::commit::commit;
use crate::gift::Gift;
use crate::moment::Moment;
use crate::regions::is_lent;
use crate::{Store, StoreError};

/// Delegates subnets as their searches decided, and returns the outcomes in the same order. Each
/// decision is fenced by the state of its search and by the subnet's fencing number. Waiting hosts
/// of the subnet get the agent; hosts of another agent are handed over ([`crate::handovers`]). A
/// final decision closes its search.
///
/// All are applied in one transaction. It is rare that a decision comes too late. Then each gets a
/// transaction of its own.
pub async fn decide_all(
    store: &Store,
    decisions: &[Decision<'_>],
    now: UnixMillis,
) -> Result<Vec<DelegationOutcome>, StoreError> {
    let together = decide_together(store, decisions, now).await?;
    if together.is_ok() || decisions.len() == 1 {
        return Ok(outcomes(together));
    }
    let mut all = Vec::with_capacity(decisions.len());
    for decision in decisions.chunks(1) {
        all.extend(outcomes(decide_together(store, decision, now).await?));
    }
    Ok(all)
}

/// The outcomes of decisions that were applied, or the one outcome of all that were not.
fn outcomes(result: Result<Vec<DelegationId>, DelegationOutcome>) -> Vec<DelegationOutcome> {
    match result {
        Ok(made) => made.into_iter().map(DelegationOutcome::Applied).collect(),
        Err(rejected) => vec![rejected],
    }
}

/// Applies all decisions, or none when one of them cannot be applied, and returns why.
async fn decide_together(
    store: &Store,
    decisions: &[Decision<'_>],
    now: UnixMillis,
) -> Result<Result<Vec<DelegationId>, DelegationOutcome>, StoreError> {
    let doing = StoreError::doing("decide searches");
    let mut tx = store.begin().await.map_err(doing)?;
    // Agents are locked before searches, as everywhere, so that a revocation comes wholly before or
    // wholly after; both in the order of their ids, so that transactions do not deadlock.
    if !may_all_work(&mut tx, decisions).await? {
        return Ok(Err(DelegationOutcome::AgentGone));
    }
    let gift = |decision: &Decision<'_>| {
        let Decision { subnet, agent, moved_from, .. } = *decision;
        Gift { subnet, agent, moved_from }
    };
    let gifts: Vec<Gift> = decisions.iter().map(gift).collect();
    if is_lent(&mut tx, &gifts, now).await? {
        return Ok(Err(DelegationOutcome::Lent));
    }
    if !close_searches(&mut tx, decisions, now).await? {
        return Ok(Err(DelegationOutcome::Outdated));
    }
    end(&mut tx, decisions, now).await?;
    let made = insert(&mut tx, decisions, now).await?;
    if made.len() < decisions.len() {
        return Ok(Err(DelegationOutcome::Outdated));
    }
    give_hosts(&mut tx, &gifts, now).await?;
    notify_decided(&mut tx, decisions.iter().map(|decision| decision.subnet)).await?;
    activity::count_in(&mut *tx, &ended_searches(decisions), now).await?;
    commit(tx).await.map_err(doing)?;
    Ok(Ok(made))
}

/// For each agent, the searches that ended for good with a delegation to it.
fn ended_searches(decisions: &[Decision<'_>]) -> Vec<(AgentId, Activity)> {
    let mut counts: BTreeMap<AgentId, u64> = BTreeMap::new();
    for decision in decisions.iter().filter(|decision| !decision.provisional) {
        *counts.entry(decision.agent).or_default() += 1;
    }
    let activity = |(agent, searches)| (agent, Activity { searches, ..Activity::default() });
    counts.into_iter().map(activity).collect()
}

async fn may_all_work(
    db: &mut PgConnection,
    decisions: &[Decision<'_>],
) -> Result<bool, StoreError> {
    let mut agents: Vec<i64> = decisions.iter().map(|decision| decision.agent.get()).collect();
    agents.sort_unstable();
    agents.dedup();
    let working: Vec<i64> = sqlx::query_scalar(include_str!("may_all_work.sql"))
        .bind(&agents)
        .fetch_all(db)
        .await
        .map_err(StoreError::doing("lock the agents of decisions"))?;
    Ok(working.len() == agents.len())
}

async fn close_searches(
    db: &mut PgConnection,
    decisions: &[Decision<'_>],
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let closed = sqlx::query(include_str!("close_decided_searches.sql"))
        .bind(column(decisions, |decision| decision.search.get()))
        .bind(column(decisions, |decision| decision.provisional))
        .bind(Moment(now))
        .bind(decisions.iter().map(|decision| Json(decision.skipped)).collect::<Vec<_>>())
        .execute(db)
        .await
        .map_err(StoreError::doing("close searches"))?;
    Ok(closed.rows_affected() == decisions.len() as u64)
}

async fn end(
    db: &mut PgConnection,
    decisions: &[Decision<'_>],
    now: UnixMillis,
) -> Result<(), StoreError> {
    // Most subnets never had a delegation that could end.
    let former: Vec<_> = decisions.iter().filter(|decision| decision.fencing_number > 0).collect();
    if former.is_empty() {
        return Ok(());
    }
    sqlx::query(include_str!("end.sql"))
        .bind(former.iter().map(|decision| decision.subnet.first()).collect::<Vec<_>>())
        .bind(former.iter().map(|decision| decision.subnet.last()).collect::<Vec<_>>())
        .bind(former.iter().map(|decision| decision.fencing_number).collect::<Vec<_>>())
        .bind(Moment(now))
        .execute(db)
        .await
        .map_err(StoreError::doing("end delegations"))?;
    Ok(())
}

/// The new delegations in the order of their decisions; fewer where a subnet was delegated
/// meanwhile.
async fn insert(
    db: &mut PgConnection,
    decisions: &[Decision<'_>],
    now: UnixMillis,
) -> Result<Vec<DelegationId>, StoreError> {
    let rtt_us = |decision: &Decision<'_>| decision.rtt_us.map(int);
    let ids: Vec<i64> = sqlx::query_scalar(include_str!("insert_decided.sql"))
        .bind(column(decisions, |decision| decision.subnet.first()))
        .bind(column(decisions, |decision| decision.subnet.last()))
        .bind(agents(decisions))
        .bind(column(decisions, |decision| decision.fencing_number))
        .bind(column(decisions, |decision| decision.reason.as_str()))
        .bind(column(decisions, |decision| decision.provisional))
        .bind(column(decisions, |decision| decision.search.get()))
        .bind(column(decisions, rtt_us))
        .bind(Moment(now))
        .fetch_all(db)
        .await
        .map_err(StoreError::doing("write delegations"))?;
    Ok(ids.into_iter().map(DelegationId::new).collect())
}

fn agents(decisions: &[Decision<'_>]) -> Vec<i64> {
    column(decisions, |decision| AgentId::get(decision.agent))
}

fn column<T>(decisions: &[Decision<'_>], value: impl Fn(&Decision<'_>) -> T) -> Vec<T> {
    decisions.iter().map(value).collect()
}
