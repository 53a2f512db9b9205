//! Agents: [`enrol`]ment, an admin's [`order`]s, [`heartbeat`]s, and the agents that may work.

mod enrolment;
mod heartbeats;
mod leaving;
mod moved;
mod orders;
mod sites;
mod summaries;

use std::net::IpAddr;

use model::{AgentId, AgentState, UnixMillis};
use protocol::key::PublicKey;

pub use enrolment::{Enrolment, Newcomer, enrol, renew_profile};
pub use heartbeats::{Heartbeat, HeartbeatOutcome, heartbeat};
pub use leaving::{Departure, leave};
pub use moved::{MovedAgent, move_home, moved};
pub(crate) use orders::lock;
pub use orders::{Order, OrderOutcome, order};
pub use sites::{AgentSite, sites};
pub use summaries::{AgentSummary, find, list, names, names_and_states};

use crate::columns::read_word;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// The key and the state of an agent, for the check of its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    pub key: PublicKey,
    /// What the admins decided about it.
    pub state: AgentState,
}

/// Reads the key and the state of an agent.
pub async fn identity(store: &Store, agent: AgentId) -> Result<Option<Identity>, StoreError> {
    let row: Option<(Vec<u8>, String)> =
        sqlx::query_as("SELECT public_key, state FROM agents WHERE id = $1")
            .bind(agent.get())
            .fetch_optional(&store.pool())
            .await
            .map_err(StoreError::doing("look up an agent"))?;
    row.map(|(key, state)| {
        let key =
            PublicKey::from_bytes(&key).map_err(|_| StoreError::unreadable("agents.public_key"))?;
        Ok(Identity { key, state: read_word("agents", "state", agent, &state)? })
    })
    .transpose()
}

/// The home address of an agent.
pub async fn home(store: &Store, agent: AgentId) -> Result<Option<IpAddr>, StoreError> {
    sqlx::query_scalar("SELECT home FROM agents WHERE id = $1")
        .bind(agent.get())
        .fetch_optional(&store.pool())
        .await
        .map_err(StoreError::doing("look up an agent's home"))
}

/// An approved agent, as searches and background tasks need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worker {
    pub agent: AgentId,
    /// Its home address.
    pub home: IpAddr,
    /// When it was approved.
    pub approved_at: Option<UnixMillis>,
    /// Its last heartbeat; none when it has not sent one.
    pub last_heartbeat_at: Option<UnixMillis>,
    /// End of its announced sleep; none when awake.
    pub asleep_until: Option<UnixMillis>,
    /// Whether it carries out probe orders now.
    pub takes_probes: bool,
    /// Probe orders that it has not answered.
    pub orders: u32,
}

type WorkerRow = (i64, IpAddr, Option<Moment>, Option<Moment>, Option<Moment>, bool, i64);

/// The approved agents.
pub async fn workers(store: &Store) -> Result<Vec<Worker>, StoreError> {
    let rows: Vec<WorkerRow> = sqlx::query_as(
        "SELECT a.id, a.home, a.approved_at, a.last_heartbeat_at, a.asleep_until, a.takes_probes,
                (SELECT count(*) FROM probes p WHERE p.agent = a.id AND p.state = 'asked')
         FROM agents a WHERE a.state = 'approved' ORDER BY a.id",
    )
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("list the agents that work"))?;
    let worker =
        |(id, home, approved, heartbeat, asleep, takes_probes, orders): WorkerRow| Worker {
            agent: AgentId::new(id),
            home,
            approved_at: approved.map(|moment| moment.0),
            last_heartbeat_at: heartbeat.map(|moment| moment.0),
            asleep_until: asleep.map(|moment| moment.0),
            takes_probes,
            orders: u32::try_from(orders).unwrap_or(u32::MAX),
        };
    Ok(rows.into_iter().map(worker).collect())
}
