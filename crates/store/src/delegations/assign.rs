//! Assignments of subnets outside of a search: by a pin, an override, balance or a drain.

use hierarchy::Range;
use model::{AgentId, DelegationId, PinId, Reason, UnixMillis};
use serde_json::json;
use sqlx::PgConnection;

use super::{DelegationOutcome, end, give_hosts, notify};
use crate::audit::{self, Entry};
use crate::gift::Gift;
use crate::moment::Moment;
use crate::regions::is_lent;
use crate::working_agents::may_work;
use crate::{Store, StoreError};

/// Why a subnet is assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A pin holds it there.
    Pin(PinId),
    /// An admin reassigned it once.
    Override,
    /// Balance moved it.
    Balance,
    /// Its former agent is drained.
    Drain,
}

impl Cause {
    /// The reason of the delegation that comes of it.
    pub const fn reason(self) -> Reason {
        match self {
            Self::Pin(_) => Reason::Pinned,
            Self::Override => Reason::Override,
            Self::Balance => Reason::Balanced,
            Self::Drain => Reason::Drained,
        }
    }

    fn action(self) -> &'static str {
        match self {
            Self::Pin(_) => "delegation.pin",
            Self::Override => "delegation.override",
            Self::Balance => "delegation.balance",
            Self::Drain => "delegation.drain",
        }
    }
}

/// A subnet to be given to an agent.
#[derive(Debug, Clone, Copy)]
pub struct Assignment<'a> {
    pub subnet: Range,
    /// The agent that gets the subnet.
    pub agent: AgentId,
    /// Fencing number of the subnet's latest delegation when the assignment was computed; 0 when it
    /// never had one.
    pub fencing_number: i64,
    /// Why it is assigned outside of a search.
    pub cause: Cause,
    /// Name of the admin; `coordinator` for balance.
    pub by: &'a str,
    /// Why, in words.
    pub note: &'a str,
}

/// Assigns a subnet to an agent in one transaction, fenced by the number of its delegation. Ends
/// the present delegation, closes an open search, gives the hosts to the agent, writes into the
/// audit log and notifies all coordinators. `moved_from` is the agent that has the subnet, where
/// its region moves the hosts by itself.
pub async fn assign(
    store: &Store,
    assignment: &Assignment<'_>,
    moved_from: Option<AgentId>,
    now: UnixMillis,
) -> Result<DelegationOutcome, StoreError> {
    let doing = StoreError::doing("assign a subnet");
    let mut tx = store.begin().await.map_err(doing)?;
    let assigned = assign_in(&mut tx, assignment, moved_from, now).await?;
    if let DelegationOutcome::Applied(_) = assigned {
        tx.commit().await.map_err(doing)?;
    }
    Ok(assigned)
}

/// [`assign`] as part of a larger transaction, which must be rolled back unless it was applied.
pub(crate) async fn assign_in(
    db: &mut PgConnection,
    assignment: &Assignment<'_>,
    moved_from: Option<AgentId>,
    now: UnixMillis,
) -> Result<DelegationOutcome, StoreError> {
    // The agent's row is always locked first, so that a revocation comes wholly before or wholly
    // after.
    if !may_work(db, assignment.agent).await? {
        return Ok(DelegationOutcome::AgentGone);
    }
    let subnet = &assignment.subnet;
    if !pin_is_active(db, assignment.cause, now).await?
        || latest(db, subnet).await? != assignment.fencing_number
    {
        return Ok(DelegationOutcome::Outdated);
    }
    let gift = Gift { subnet: *subnet, agent: assignment.agent, moved_from };
    if is_lent(db, &[gift], now).await? {
        return Ok(DelegationOutcome::Lent);
    }
    close_searches(db, subnet, now).await?;
    end(db, subnet, assignment.fencing_number, now).await?;
    let Some(id) = insert(db, assignment, now).await? else {
        return Ok(DelegationOutcome::Outdated);
    };
    give_hosts(db, &[gift], now).await?;
    note(db, assignment, id, now).await?;
    notify(db, Some(subnet)).await?;
    Ok(DelegationOutcome::Applied(id))
}

/// Whether the pin still counts; it is locked, so that it is not removed meanwhile.
async fn pin_is_active(
    db: &mut PgConnection,
    cause: Cause,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let Cause::Pin(pin) = cause else { return Ok(true) };
    let found: Option<i64> = sqlx::query_scalar(include_str!("lock_pin.sql"))
        .bind(pin.get())
        .bind(Moment(now))
        .fetch_optional(db)
        .await
        .map_err(StoreError::doing("lock a pin"))?;
    Ok(found.is_some())
}

pub(crate) async fn latest(db: &mut PgConnection, subnet: &Range) -> Result<i64, StoreError> {
    sqlx::query_scalar(
        "SELECT coalesce(max(fencing_number), 0) FROM delegations WHERE first = $1 AND last = $2",
    )
    .bind(subnet.first())
    .bind(subnet.last())
    .fetch_one(db)
    .await
    .map_err(StoreError::doing("look at a subnet's delegations"))
}

pub(super) async fn close_searches(
    db: &mut PgConnection,
    subnet: &Range,
    now: UnixMillis,
) -> Result<(), StoreError> {
    sqlx::query(include_str!("close_searches_of_subnet.sql"))
        .bind(subnet.first())
        .bind(subnet.last())
        .bind(Moment(now))
        .execute(db)
        .await
        .map_err(StoreError::doing("close the search for a subnet"))?;
    Ok(())
}

/// The new delegation keeps the search that last looked at the subnet, so that what was measured
/// can still be seen, and the agent's own time, where it was ever asked.
async fn insert(
    db: &mut PgConnection,
    assignment: &Assignment<'_>,
    now: UnixMillis,
) -> Result<Option<DelegationId>, StoreError> {
    let admin = (assignment.cause != Cause::Balance).then_some(assignment);
    let pin = match assignment.cause {
        Cause::Pin(pin) => Some(pin.get()),
        Cause::Override | Cause::Balance | Cause::Drain => None,
    };
    let id: Option<i64> = sqlx::query_scalar(include_str!("insert_assigned.sql"))
        .bind(assignment.subnet.first())
        .bind(assignment.subnet.last())
        .bind(assignment.agent.get())
        .bind(assignment.fencing_number + 1)
        .bind(assignment.cause.reason().as_str())
        .bind(Moment(now))
        .bind(pin)
        .bind(admin.map(|assignment| assignment.by))
        .bind(admin.map(|assignment| assignment.note))
        .fetch_optional(db)
        .await
        .map_err(StoreError::doing("write a delegation"))?;
    Ok(id.map(DelegationId::new))
}

async fn note(
    db: &mut PgConnection,
    assignment: &Assignment<'_>,
    id: DelegationId,
    now: UnixMillis,
) -> Result<(), StoreError> {
    let detail = json!({
        "subnet": assignment.subnet.to_string(), "agent": assignment.agent,
        "fencing_number": assignment.fencing_number + 1,
        "note": assignment.note,
        "pin": match assignment.cause {
            Cause::Pin(pin) => Some(pin),
            Cause::Override | Cause::Balance | Cause::Drain => None,
        },
    });
    let entry = Entry::new(assignment.by, assignment.cause.action(), id, detail);
    audit::write_in(db, &entry, now).await
}
