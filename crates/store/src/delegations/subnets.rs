//! State of single subnets, and the admins behind their delegations.

use std::net::IpAddr;

use hierarchy::{Generation, Range};
use model::{AgentId, DelegationId, PinId, UnixMillis};
use serde_json::json;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};

use super::{ActiveDelegation, close_searches, end, notify, take_hosts};
use crate::audit::{self, Entry};
use crate::columns::{ReadColumn as _, range, read_word};
use crate::moment::Moment;
use crate::regions::{Loans, is_kept_by_loan};
use crate::{Store, StoreError};

/// Takes a subnet from its agent although no other agent was found, fenced by its number, with an
/// entry in the audit log. Closes an open search for it. Its hosts, if it has any, wait for a
/// search like new ones, once the agent has released them. Returns whether it was taken: a subnet
/// that is lent to a region stays, because the region may continue to crawl it, so no agent outside
/// could get it.
pub async fn release(
    store: &Store,
    subnet: &Range,
    fencing_number: i64,
    by: &str,
    why: &str,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let doing = StoreError::doing("release a subnet");
    let mut tx = store.begin().await.map_err(doing)?;
    if is_kept_by_loan(&mut tx, subnet, now).await? {
        return Ok(false);
    }
    close_searches(&mut tx, subnet, now).await?;
    if !end(&mut tx, subnet, fencing_number, now).await? {
        return Ok(false);
    }
    take_hosts(&mut tx, subnet, now).await?;
    let entry = Entry::new(by, "delegation.release", subnet, json!({ "why": why }));
    audit::write_in(&mut tx, &entry, now).await?;
    notify(&mut tx, Some(subnet)).await?;
    tx.commit().await.map_err(doing)?;
    Ok(true)
}

/// The delegations that pins hold, with their pins.
pub async fn pinned(store: &Store) -> Result<Vec<(Range, PinId)>, StoreError> {
    let rows: Vec<(IpAddr, IpAddr, i64)> = sqlx::query_as(
        "SELECT first, last, pin FROM delegations WHERE ended_at IS NULL AND pin IS NOT NULL",
    )
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("list the pinned delegations"))?;
    rows.into_iter().map(|(first, last, pin)| Ok((range(first, last)?, PinId::new(pin)))).collect()
}

/// The admin behind a pinned or overridden delegation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminAssignment {
    /// The admin who decided it.
    pub by: String,
    /// Why, in the admin's words.
    pub note: String,
    /// Whether a pin holds it, or it was an override.
    pub pinned: bool,
    /// When the pin expires.
    pub expires_at: Option<UnixMillis>,
}

/// The admin behind a delegation; none where no admin decided.
pub async fn admin_assignment(
    store: &Store,
    id: DelegationId,
) -> Result<Option<AdminAssignment>, StoreError> {
    let row: Option<(String, String, bool, Option<Moment>)> = sqlx::query_as(
        "SELECT d.assigned_by, d.note, d.pin IS NOT NULL, s.expires_at
         FROM delegations d LEFT JOIN constraints s ON s.id = d.pin
         WHERE d.id = $1 AND d.assigned_by IS NOT NULL AND d.note IS NOT NULL",
    )
    .bind(id.get())
    .fetch_optional(&store.pool())
    .await
    .map_err(StoreError::doing("find the admin behind a delegation"))?;
    Ok(row.map(|(by, note, pinned, expires_at)| AdminAssignment {
        by,
        note,
        pinned,
        expires_at: expires_at.map(|at| at.0),
    }))
}

/// Subnets whose delegations began on another generation of the hierarchy and were not remapped to
/// this one, each with the other generation.
pub async fn stale(
    store: &Store,
    generation: Generation,
) -> Result<Vec<(Range, Generation)>, StoreError> {
    let rows: Vec<(IpAddr, IpAddr, i32)> = sqlx::query_as(include_str!("stale.sql"))
        .bind(generation.get())
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("find delegations that were not remapped"))?;
    rows.into_iter()
        .map(|(first, last, other)| Ok((range(first, last)?, Generation::new(other.into()))))
        .collect()
}

/// Subnets with waiting hosts and without an agent that begin in one of these ranges.
pub async fn undelegated_subnets(
    store: &Store,
    ranges: &[Range],
) -> Result<Vec<Range>, StoreError> {
    let rows: Vec<(IpAddr, IpAddr)> = sqlx::query_as(include_str!("undelegated_subnets.sql"))
        .bind(ranges.iter().map(Range::first).collect::<Vec<_>>())
        .bind(ranges.iter().map(Range::last).collect::<Vec<_>>())
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the subnets that hosts wait in"))?;
    rows.into_iter().map(|(first, last)| range(first, last)).collect()
}

/// The delegation of a subnet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubnetState {
    pub subnet: Range,
    /// Fencing number of its latest delegation; 0 when it never had one.
    pub fencing_number: i64,
    /// The delegation that holds.
    pub held: Option<ActiveDelegation>,
    /// The agent of its latest delegation, which may have ended; none when it never had one.
    pub latest_agent: Option<AgentId>,
    /// Whether a search could probe one of its hosts.
    pub has_target: bool,
}

impl SubnetState {
    /// Whether a loan keeps the subnet from this agent. Where its delegation has ended, no region
    /// moves it: not even another member gets it before the end of the loan.
    pub fn is_kept_from(&self, agent: AgentId, loans: &Loans) -> bool {
        match &self.held {
            Some(held) => loans.keep_from(held.agent, agent),
            None => self.latest_agent.is_some_and(|it| it != agent && loans.are_lent(it)),
        }
    }
}

impl FromRow<'_, PgRow> for SubnetState {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let subnet = range(row.try_get("first")?, row.try_get("last")?)?;
        let fencing_number = row.try_get("fencing_number")?;
        let held = row.try_get::<Option<i64>, _>("id")?.map(|id| -> sqlx::Result<_> {
            Ok(ActiveDelegation {
                id: DelegationId::new(id),
                subnet,
                agent: row.read("agent")?,
                fencing_number,
                reason: read_word("delegations", "reason", id, row.try_get("reason")?)?,
                rtt_us: row.read("rtt_us")?,
                provisional: row.try_get("provisional")?,
            })
        });
        Ok(Self {
            subnet,
            fencing_number,
            held: held.transpose()?,
            latest_agent: row.read("latest_agent")?,
            has_target: row.try_get("has_target")?,
        })
    }
}

/// Reads the state of these subnets, in their order.
pub async fn subnet_states(
    store: &Store,
    subnets: &[Range],
) -> Result<Vec<SubnetState>, StoreError> {
    sqlx::query_as(include_str!("subnet_states.sql"))
        .bind(subnets.iter().map(Range::first).collect::<Vec<_>>())
        .bind(subnets.iter().map(Range::last).collect::<Vec<_>>())
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read the state of subnets"))
}

/// Number of known hosts of these subnets, in their order. Reads as many rows as there are hosts.
pub async fn host_counts(store: &Store, subnets: &[Range]) -> Result<Vec<u64>, StoreError> {
    let counts: Vec<i64> = sqlx::query_scalar(include_str!("host_counts.sql"))
        .bind(subnets.iter().map(Range::first).collect::<Vec<_>>())
        .bind(subnets.iter().map(Range::last).collect::<Vec<_>>())
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("count the hosts of subnets"))?;
    Ok(counts.into_iter().map(i64::unsigned_abs).collect())
}
