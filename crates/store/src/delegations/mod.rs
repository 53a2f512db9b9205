//! Delegations: which agent crawls which subnet.

mod assign;
mod decide;
mod free;
mod host_agents;
mod notifications;
mod remap;
mod subnets;
mod summaries;

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, DelegationId, Reason, SearchId, SkipReason, UnixMillis};
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;

use crate::columns::{range, read_word};
use crate::gift::Gift;
use crate::moment::Moment;
use crate::regions::is_lent;
use crate::working_agents::may_work;
use crate::{Store, StoreError};

pub(crate) use assign::assign_in;
use assign::close_searches;
pub(crate) use assign::latest;
pub use assign::{Assignment, Cause, assign};
pub use decide::decide_all;
pub(crate) use free::free;
pub use free::free_hosts;
pub use host_agents::give_waiting_hosts;
pub(crate) use host_agents::{give_hosts, give_waiting, lock_delegations, move_hosts, take_hosts};
pub use notifications::{DelegationChange, DelegationListener};
pub(crate) use notifications::{notify, notify_decided};
pub use remap::{RemapInput, open_search_claims, remap, remap_searches};
pub use subnets::{
    AdminAssignment, SubnetState, admin_assignment, host_counts, pinned, release, stale,
    subnet_states, undelegated_subnets,
};
pub use summaries::{
    DelegationCursor, DelegationFilter, DelegationSummary, count_of_agent, find, list, of_subnet,
};

/// A delegation that holds now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveDelegation {
    /// Primary key of the row.
    pub id: DelegationId,
    pub subnet: Range,
    /// Who crawls it.
    pub agent: AgentId,
    /// Fencing number of the subnet, from 1.
    pub fencing_number: i64,
    /// Why the agent holds it.
    pub reason: Reason,
    /// The agent's measured round trip, in microseconds.
    pub rtt_us: Option<u32>,
    /// Whether its search is still open, so that a better agent may be found.
    pub provisional: bool,
}

type ActiveRow = (i64, IpAddr, IpAddr, i64, i64, String, Option<i32>, bool);

/// Delegations that are read at once.
const PAGE: i64 = 50_000;

/// Every delegation that holds now.
pub async fn list_active(store: &Store) -> Result<Vec<ActiveDelegation>, StoreError> {
    let mut all = Vec::new();
    let mut page = active_after(store, DelegationId::new(0)).await?;
    while let Some(last) = page.last().map(|held| held.id) {
        all.append(&mut page);
        page = active_after(store, last).await?;
    }
    Ok(all)
}

/// The next delegations after `after` that hold now, in order of their number.
pub async fn active_after(
    store: &Store,
    after: DelegationId,
) -> Result<Vec<ActiveDelegation>, StoreError> {
    let rows: Vec<ActiveRow> = sqlx::query_as(
        "SELECT id, first, last, agent, fencing_number, reason, rtt_us, provisional
         FROM delegations WHERE id > $1 AND ended_at IS NULL ORDER BY id LIMIT $2",
    )
    .bind(after.get())
    .bind(PAGE)
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("read the delegations"))?;
    rows.into_iter()
        .map(|(id, first, last, agent, fencing_number, reason, rtt_us, provisional)| {
            Ok(ActiveDelegation {
                id: DelegationId::new(id),
                subnet: range(first, last)?,
                agent: AgentId::new(agent),
                fencing_number,
                reason: read_word("delegations", "reason", id, &reason)?,
                rtt_us: rtt_us.and_then(|us| u32::try_from(us).ok()),
                provisional,
            })
        })
        .collect()
}

/// The decision of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision<'a> {
    /// The search that decided.
    pub search: SearchId,
    /// The subnet it was about.
    pub subnet: Range,
    /// The agent that is to crawl it.
    pub agent: AgentId,
    /// Fencing number of the subnet when the decision was computed; 0 when it had none.
    pub fencing_number: i64,
    /// Why this agent was chosen.
    pub reason: Reason,
    /// Whether a better agent may still be found: the search then stays open.
    pub provisional: bool,
    /// The agent's measured round trip, in microseconds.
    pub rtt_us: Option<u32>,
    /// The agent that has the subnet, where its region moves the hosts by itself.
    pub moved_from: Option<AgentId>,
    /// The agents that the search skipped.
    pub skipped: &'a [Skipped],
}

/// An agent that a search skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    pub agent: AgentId,
    /// Why it was not asked.
    pub why: SkipReason,
}

/// What came of a new delegation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DelegationOutcome {
    /// The new delegation holds.
    Applied(DelegationId),
    /// The search or the pin had ended, or the subnet was delegated meanwhile; nothing was
    /// changed.
    Outdated,
    /// The agent may not work any more; nothing was changed.
    AgentGone,
    /// The subnet is lent to a region; nothing was changed.
    Lent,
}

/// Ends the delegation with this fencing number; whether it held.
pub(crate) async fn end(
    db: &mut PgConnection,
    subnet: &Range,
    fencing_number: i64,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let ended = sqlx::query(
        "UPDATE delegations SET ended_at = $4
         WHERE first = $1 AND last = $2 AND fencing_number = $3 AND ended_at IS NULL",
    )
    .bind(subnet.first())
    .bind(subnet.last())
    .bind(fencing_number)
    .bind(Moment(now))
    .execute(db)
    .await
    .map_err(StoreError::doing("end a delegation"))?;
    Ok(ended.rows_affected() == 1)
}

/// Delegates its home subnet to an agent that may work, where approval could not: the hierarchy was
/// not loaded, or has changed since. `moved_from` is the agent that has the subnet, where its
/// region moves the hosts by itself. Returns whether anything changed.
pub async fn settle_home(
    store: &Store,
    agent: AgentId,
    home: &Range,
    moved_from: Option<AgentId>,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let doing = StoreError::doing("give an agent its home subnet");
    let mut tx = store.begin().await.map_err(doing)?;
    let gift = Gift { subnet: *home, agent, moved_from };
    let settled = may_work(&mut tx, agent).await? && give_home(&mut tx, gift, now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(settled)
}

/// Delegates a home subnet to the agent that lives there (IPMicra III.D), unless another agent that
/// lives there holds it, or a region that may crawl it. Closes a search for it. Returns whether it
/// changed the delegations.
pub(crate) async fn give_home(
    db: &mut PgConnection,
    gift: Gift,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let Gift { subnet: home, agent, .. } = gift;
    let (fencing_number, lived_in): (i64, bool) = sqlx::query_as(include_str!("latest_home.sql"))
        .bind(home.first())
        .bind(home.last())
        .fetch_one(&mut *db)
        .await
        .map_err(StoreError::doing("look at a home subnet"))?;
    if lived_in || is_lent(db, &[gift], now).await? {
        return Ok(false);
    }
    close_searches(db, &home, now).await?;
    end(db, &home, fencing_number, now).await?;
    let settled = sqlx::query(include_str!("insert_home.sql"))
        .bind(home.first())
        .bind(home.last())
        .bind(agent.get())
        .bind(fencing_number + 1)
        .bind(Moment(now))
        .execute(&mut *db)
        .await
        .map_err(StoreError::doing("write a delegation"))?;
    if settled.rows_affected() == 0 {
        return Err(StoreError::conflict(
            "the home subnet was delegated at the same moment; try again",
        ));
    }
    give_hosts(db, &[gift], now).await?;
    notify(db, Some(&home)).await?;
    Ok(true)
}
