//! Takeovers within a region: subnets of a dead member go to the members that fetch their hosts,
//! and return when it works again.
//!
//! The region has moved the hosts by itself, by a majority of its voters. So nothing is handed
//! over here: hosts and routes follow at once, also while the region's loan holds. Only the leader
//! knows which members are dead, so that each transfer is fenced by its term.

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, DelegationId, HostId, Reason, UnixMillis};
use serde_json::json;
use sqlx::PgConnection;

use crate::audit::{self, Entry};
use crate::columns::{range, read_word};
use crate::delegations::{end, latest, move_hosts, notify};
use crate::handovers::queue_front_pages;
use crate::leader::begin_in;
use crate::moment::Moment;
use crate::working_agents::may_work;
use crate::{Store, StoreError, Term, lost_hosts};

/// A host with the delegation of its subnet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldHost {
    pub id: HostId,
    /// The host's subnet.
    pub subnet: Range,
    /// Fencing number of the subnet's delegation.
    pub fencing_number: i64,
    /// Scheme and authority.
    pub host_key: String,
    /// The address that the coordinator resolved.
    pub address: IpAddr,
}

/// Hosts of an agent after one of them, whose subnets are delegated to it, the oldest first.
pub async fn hosts_of_agent(
    store: &Store,
    agent: AgentId,
    after: HostId,
    limit: u32,
) -> Result<Vec<HeldHost>, StoreError> {
    let rows: Vec<(i64, IpAddr, IpAddr, i64, String, IpAddr)> =
        sqlx::query_as(include_str!("takeovers/hosts_of_agent.sql"))
            .bind(agent.get())
            .bind(i64::from(limit))
            .bind(after.get())
            .fetch_all(&store.pool())
            .await
            .map_err(StoreError::doing("list the hosts of a dead agent"))?;
    rows.into_iter()
        .map(|(id, first, last, fencing_number, host_key, address)| {
            let id = HostId::new(id);
            Ok(HeldHost { id, subnet: range(first, last)?, fencing_number, host_key, address })
        })
        .collect()
}

/// A subnet that goes from one member of a region to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The subnet that is transferred.
    pub subnet: Range,
    /// Fencing number of its present delegation.
    pub fencing_number: i64,
    /// The member that has it.
    pub from: AgentId,
    /// The member that gets it.
    pub to: AgentId,
}

/// Subnets that were taken over from one of these agents, as transfers back to it: in order of
/// their delegations, those after `after`.
pub async fn to_return(
    store: &Store,
    agents: &[AgentId],
    after: DelegationId,
    limit: u32,
) -> Result<Vec<(DelegationId, Transfer)>, StoreError> {
    let rows: Vec<(i64, IpAddr, IpAddr, i64, i64, i64)> =
        sqlx::query_as(include_str!("takeovers/to_return.sql"))
            .bind(agents.iter().map(|agent| agent.get()).collect::<Vec<_>>())
            .bind(after.get())
            .bind(i64::from(limit))
            .fetch_all(&store.pool())
            .await
            .map_err(StoreError::doing("list subnets that were taken over"))?;
    rows.into_iter()
        .map(|(id, first, last, fencing_number, from, to)| {
            let subnet = range(first, last)?;
            let from = AgentId::new(from);
            let transfer = Transfer { subnet, fencing_number, from, to: AgentId::new(to) };
            Ok((DelegationId::new(id), transfer))
        })
        .collect()
}

/// Direction of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To a member that takes over.
    Takeover,
    /// Back to the former member.
    Return,
}

impl Direction {
    /// The statement that makes the new delegation.
    fn insert(self) -> &'static str {
        match self {
            Self::Takeover => include_str!("takeovers/insert_takeover.sql"),
            Self::Return => include_str!("takeovers/insert_return.sql"),
        }
    }

    /// Name in the audit log.
    fn action(self) -> &'static str {
        match self {
            Self::Takeover => "delegation.takeover",
            Self::Return => "delegation.return",
        }
    }
}

/// Delegates a subnet to the member of the region that fetches its hosts, or to the member again
/// from which it was taken over, for its former reason. Returns the reason of the new delegation;
/// none where the subnet was delegated meanwhile, the member may not work, or the former reason is
/// not kept any more.
pub async fn execute(
    store: &Store,
    term: Term,
    transfer: &Transfer,
    direction: Direction,
    now: UnixMillis,
) -> Result<Option<Reason>, StoreError> {
    let doing = StoreError::doing("transfer a subnet within a region");
    let Transfer { subnet, fencing_number, from, to } = transfer;
    let mut tx = begin_in(store, term).await?;
    if !may_work(&mut tx, *to).await? || latest(&mut tx, subnet).await? != *fencing_number {
        return Ok(None);
    }
    end(&mut tx, subnet, *fencing_number, now).await?;
    let made: Option<(i64, String)> = sqlx::query_as(direction.insert())
        .bind(subnet.first())
        .bind(subnet.last())
        .bind(to.get())
        .bind(from.get())
        .bind(fencing_number)
        .bind(Moment(now))
        .fetch_optional(&mut *tx)
        .await
        .map_err(doing)?;
    let Some((id, reason)) = made else { return Ok(None) };
    let hosts = move_hosts(&mut tx, subnet, (*from, *to)).await?;
    // The member does not know those that the former one had before the region was formed.
    queue_front_pages(&mut tx, &hosts).await?;
    if direction == Direction::Takeover {
        // The former one still has its own when it comes back.
        lost_hosts::note(&mut tx, &hosts, now).await?;
    }
    note(&mut tx, transfer, (DelegationId::new(id), direction.action()), now).await?;
    notify(&mut tx, Some(subnet)).await?;
    tx.commit().await.map_err(doing)?;
    read_word("delegations", "reason", id, &reason).map(Some)
}

async fn note(
    db: &mut PgConnection,
    transfer: &Transfer,
    (id, action): (DelegationId, &str),
    now: UnixMillis,
) -> Result<(), StoreError> {
    let Transfer { subnet, fencing_number, from, to } = transfer;
    let detail = json!({
        "subnet": subnet.to_string(), "agent": to, "former_agent": from,
        "fencing_number": fencing_number + 1,
    });
    audit::write_in(db, &Entry::new("coordinator", action, id, detail), now).await
}

/// The agent from which a subnet was taken over, with its name; none where none was.
pub async fn taken_from(
    store: &Store,
    id: DelegationId,
) -> Result<Option<(AgentId, String)>, StoreError> {
    let row: Option<(i64, String)> = sqlx::query_as(
        "SELECT a.id, a.name FROM delegations d JOIN agents a ON a.id = d.taken_from
         WHERE d.id = $1",
    )
    .bind(id.get())
    .fetch_optional(&store.pool())
    .await
    .map_err(StoreError::doing("find the agent from which a subnet was taken over"))?;
    Ok(row.map(|(agent, name)| (AgentId::new(agent), name)))
}
