//! Agents: enrolment, standing, beats.

use std::net::IpAddr;

use hierarchy::Range;
use protocol::enrol::AgentProfile;
use protocol::key::PublicKey;
use protocol::{AgentId, AgentState, ProtocolVersion, UnixMillis};
use sqlx::PgConnection;

use crate::delegations;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Who asks to be enrolled.
#[derive(Debug, Clone, Copy)]
pub struct Newcomer<'a> {
    /// The identity.
    pub key: &'a PublicKey,
    /// What its owner says of it.
    pub profile: &'a AgentProfile,
    /// The dialect it speaks.
    pub protocol: ProtocolVersion,
    /// The address it was seen from.
    pub home: IpAddr,
}

/// What came of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enrolment {
    /// Known from now on, or known already.
    Enrolled {
        /// Its name.
        agent: AgentId,
        /// Where it stands.
        state: AgentState,
        /// Whether it was not known before.
        fresh: bool,
    },
    /// Nobody made this token.
    UnknownToken,
    /// Another agent used this token.
    UsedToken,
    /// The token's time is over.
    ExpiredToken,
}

/// Enrols an agent, using up its join token. A key that is known needs no token: it gets the same agent, its profile is
/// renewed, and while it is pending also its home.
pub async fn enrol(
    store: &Store,
    token_sha256: &[u8],
    newcomer: &Newcomer<'_>,
    now: UnixMillis,
) -> Result<Enrolment, StoreError> {
    let doing = StoreError::doing("enrol an agent");
    let mut tx = store.pool().begin().await.map_err(doing)?;
    let (id, state, fresh) = upsert(&mut tx, newcomer, now).await?;
    if fresh && !use_token(&mut tx, token_sha256, id, now).await? {
        tx.rollback().await.map_err(doing)?;
        return why_not(store, token_sha256, now).await;
    }
    tx.commit().await.map_err(doing)?;
    Ok(Enrolment::Enrolled { agent: AgentId::new(id), state, fresh })
}

async fn upsert(
    db: &mut PgConnection,
    newcomer: &Newcomer<'_>,
    now: UnixMillis,
) -> Result<(i64, AgentState, bool), StoreError> {
    let profile = newcomer.profile;
    // xmax is zero only for a row that this statement inserted.
    let (id, state, fresh): (i64, String, bool) = sqlx::query_as(
        "INSERT INTO agents (public_key, name, contact, version, protocol, capacity_pages_per_day, zone, spans, home, enrolled_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         ON CONFLICT (public_key) DO UPDATE SET
            name = excluded.name, contact = excluded.contact, version = excluded.version,
            protocol = excluded.protocol, capacity_pages_per_day = excluded.capacity_pages_per_day,
            zone = excluded.zone, spans = excluded.spans,
            home = CASE agents.state WHEN 'pending' THEN excluded.home ELSE agents.home END
         RETURNING id, state, xmax = 0",
    )
    .bind(newcomer.key.to_bytes().as_slice())
    .bind(&profile.name)
    .bind(&profile.contact)
    .bind(&profile.version)
    .bind(i16::try_from(newcomer.protocol.0).unwrap_or(i16::MAX))
    .bind(i32::try_from(profile.capacity_pages_per_day).unwrap_or(i32::MAX))
    .bind(&profile.zone)
    .bind(sqlx::types::Json(&profile.spans))
    .bind(newcomer.home)
    .bind(Moment(now))
    .fetch_one(db)
    .await
    .map_err(StoreError::doing("enrol an agent"))?;
    Ok((id, state_of(&state)?, fresh))
}

async fn use_token(
    db: &mut PgConnection,
    sha256: &[u8],
    agent: i64,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let used = sqlx::query(
        "UPDATE join_tokens SET used_by = $2, used_at = $3
         WHERE token_sha256 = $1 AND used_by IS NULL AND expires_at > $3",
    )
    .bind(sha256)
    .bind(agent)
    .bind(Moment(now))
    .execute(db)
    .await
    .map_err(StoreError::doing("use a join token"))?;
    Ok(used.rows_affected() == 1)
}

async fn why_not(store: &Store, sha256: &[u8], now: UnixMillis) -> Result<Enrolment, StoreError> {
    let token: Option<(bool, Moment)> =
        sqlx::query_as("SELECT used_by IS NOT NULL, expires_at FROM join_tokens WHERE token_sha256 = $1")
            .bind(sha256)
            .fetch_optional(store.pool())
            .await
            .map_err(StoreError::doing("look up a join token"))?;
    Ok(match token {
        Some((true, _)) => Enrolment::UsedToken,
        Some((false, expires)) if expires.0 <= now => Enrolment::ExpiredToken,
        _ => Enrolment::UnknownToken,
    })
}

/// What vouches for an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Its key.
    pub key: PublicKey,
    /// Where it stands.
    pub state: AgentState,
}

/// The key and standing of an agent.
pub async fn identity(store: &Store, agent: AgentId) -> Result<Option<Identity>, StoreError> {
    let row: Option<(Vec<u8>, String)> = sqlx::query_as("SELECT public_key, state FROM agents WHERE id = $1")
        .bind(agent.get())
        .fetch_optional(store.pool())
        .await
        .map_err(StoreError::doing("look up an agent"))?;
    row.map(|(key, state)| {
        let key = PublicKey::from_bytes(&key).map_err(|_| StoreError::unreadable("agents.public_key"))?;
        Ok(Identity { key, state: state_of(&state)? })
    })
    .transpose()
}

/// What one beat tells.
#[derive(Debug, Clone, Copy)]
pub struct Beat<'a> {
    /// Who.
    pub agent: AgentId,
    /// The dialect it speaks.
    pub protocol: ProtocolVersion,
    /// End of the sleep it announces; none when awake.
    pub asleep_until: Option<UnixMillis>,
    /// What it says of itself, as JSON.
    pub status: &'a serde_json::Value,
    /// Routes up to this number are stored by the agent and are forgotten here.
    pub routes_after: u64,
}

/// Where an agent stands when it beats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Its state.
    pub state: AgentState,
    /// Number of the last route ever made for it; it cannot have confirmed a later one.
    pub last_route: u64,
    /// Whether it was silent before, or its sleep changed.
    pub turned: bool,
    /// How many routes it confirmed.
    pub confirmed: u64,
}

/// Takes a beat down; the agent counts as silent before when its last one was before `heard_since`. `None` when there is no
/// such agent.
pub async fn beat(
    store: &Store,
    beat: &Beat<'_>,
    heard_since: UnixMillis,
    now: UnixMillis,
) -> Result<Option<Standing>, StoreError> {
    let row: Option<(String, i64, bool, i64)> = sqlx::query_as(
        "WITH before AS (
            SELECT id, coalesce(last_beat_at < $7, true) OR asleep_until IS DISTINCT FROM $4 AS turned
            FROM agents WHERE id = $1
         ), confirmed AS (
            DELETE FROM routes WHERE agent = $1 AND seq <= $6 RETURNING seq
         )
         UPDATE agents a SET last_beat_at = $2, protocol = $3, asleep_until = $4, status = $5
         FROM before WHERE a.id = before.id
         RETURNING a.state, a.next_route - 1, before.turned, (SELECT count(*) FROM confirmed)",
    )
    .bind(beat.agent.get())
    .bind(Moment(now))
    .bind(i16::try_from(beat.protocol.0).unwrap_or(i16::MAX))
    .bind(beat.asleep_until.map(Moment))
    .bind(beat.status)
    .bind(i64::try_from(beat.routes_after).unwrap_or(i64::MAX))
    .bind(Moment(heard_since))
    .fetch_optional(store.pool())
    .await
    .map_err(StoreError::doing("take a beat down"))?;
    row.map(|(state, last, turned, confirmed)| {
        Ok(Standing {
            state: state_of(&state)?,
            last_route: last.unsigned_abs(),
            turned,
            confirmed: confirmed.unsigned_abs(),
        })
    })
    .transpose()
}

/// What the search needs to know of an agent that may be delegated to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worker {
    /// Who.
    pub agent: AgentId,
    /// Its home address.
    pub home: IpAddr,
    /// Its last beat; none when it never beat.
    pub last_beat_at: Option<UnixMillis>,
    /// End of its announced sleep; none when awake.
    pub asleep_until: Option<UnixMillis>,
    /// Orders that it has not answered.
    pub orders: u32,
}

type WorkerRow = (i64, IpAddr, Option<Moment>, Option<Moment>, i64);

/// The approved agents.
pub async fn workers(store: &Store) -> Result<Vec<Worker>, StoreError> {
    let rows: Vec<WorkerRow> = sqlx::query_as(
        "SELECT a.id, a.home, a.last_beat_at, a.asleep_until,
                (SELECT count(*) FROM probes p WHERE p.agent = a.id AND p.state = 'asked')
         FROM agents a WHERE a.state = 'approved' ORDER BY a.id",
    )
    .fetch_all(store.pool())
    .await
    .map_err(StoreError::doing("list the agents that work"))?;
    let worker = |(id, home, beat, asleep, orders): WorkerRow| Worker {
        agent: AgentId::new(id),
        home,
        last_beat_at: beat.map(|moment| moment.0),
        asleep_until: asleep.map(|moment| moment.0),
        orders: u32::try_from(orders).unwrap_or(u32::MAX),
    };
    Ok(rows.into_iter().map(worker).collect())
}

/// What an admin may do to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Lets a pending agent work, with its home subnet, if the hierarchy knows one.
    Approve {
        /// The smallest subnet around its home.
        home: Option<Range>,
    },
    /// Stops an approved agent; its delegations stay.
    Pause,
    /// Lets a paused agent work again.
    Resume,
    /// Ends an agent for good; its work goes to others.
    Revoke,
}

impl Order {
    /// What the audit calls it.
    fn action(self) -> &'static str {
        match self {
            Self::Approve { .. } => "agent.approve",
            Self::Pause => "agent.pause",
            Self::Resume => "agent.resume",
            Self::Revoke => "agent.revoke",
        }
    }

    /// The states from which it is allowed, and the state it leads to.
    fn step(self) -> (&'static [AgentState], AgentState) {
        match self {
            Self::Approve { .. } => (&[AgentState::Pending], AgentState::Approved),
            Self::Pause => (&[AgentState::Approved], AgentState::Paused),
            Self::Resume => (&[AgentState::Paused], AgentState::Approved),
            Self::Revoke => {
                (&[AgentState::Pending, AgentState::Approved, AgentState::Paused], AgentState::Revoked)
            }
        }
    }
}

/// What came of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ordered {
    /// Done now.
    Done,
    /// It was so already.
    Already,
    /// Not possible from the state the agent is in.
    NotFrom(AgentState),
}

/// Carries out an admin's order in one transaction: the state, the home delegation that approval brings, the work that
/// revocation frees, and an entry by `actor` in the audit. `None` when there is no such agent.
pub async fn order(
    store: &Store,
    agent: AgentId,
    order: Order,
    actor: &str,
    now: UnixMillis,
) -> Result<Option<Ordered>, StoreError> {
    let doing = StoreError::doing("change an agent's standing");
    let mut tx = store.pool().begin().await.map_err(doing)?;
    let Some(state) = lock(&mut tx, agent).await? else { return Ok(None) };
    let (from, to) = order.step();
    if state == to {
        return Ok(Some(Ordered::Already));
    }
    if !from.contains(&state) {
        return Ok(Some(Ordered::NotFrom(state)));
    }
    set_state(&mut tx, agent, to, now).await?;
    audit(&mut tx, actor, order, agent, now).await?;
    match order {
        Order::Approve { home: Some(home) } => {
            delegations::give_home(&mut tx, agent, &home, now).await?;
        }
        Order::Revoke => delegations::free(&mut tx, agent, now).await?,
        Order::Approve { home: None } | Order::Pause | Order::Resume => {}
    }
    tx.commit().await.map_err(doing)?;
    Ok(Some(Ordered::Done))
}

async fn lock(db: &mut PgConnection, agent: AgentId) -> Result<Option<AgentState>, StoreError> {
    let state: Option<String> = sqlx::query_scalar("SELECT state FROM agents WHERE id = $1 FOR UPDATE")
        .bind(agent.get())
        .fetch_optional(db)
        .await
        .map_err(StoreError::doing("lock an agent"))?;
    state.as_deref().map(state_of).transpose()
}

async fn set_state(
    db: &mut PgConnection,
    agent: AgentId,
    state: AgentState,
    now: UnixMillis,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE agents SET state = $2,
            approved_at = CASE WHEN state = 'pending' AND $2 = 'approved' THEN $3 ELSE approved_at END
         WHERE id = $1",
    )
    .bind(agent.get())
    .bind(state.as_str())
    .bind(Moment(now))
    .execute(db)
    .await
    .map_err(StoreError::doing("change an agent's standing"))?;
    Ok(())
}

async fn audit(
    db: &mut PgConnection,
    actor: &str,
    order: Order,
    agent: AgentId,
    now: UnixMillis,
) -> Result<(), StoreError> {
    sqlx::query("INSERT INTO audit (at, actor, action, subject) VALUES ($1, $2, $3, $4)")
        .bind(Moment(now))
        .bind(actor)
        .bind(order.action())
        .bind(agent.to_string())
        .execute(db)
        .await
        .map_err(StoreError::doing("write an admin's order into the audit"))?;
    Ok(())
}

/// The address an agent enrolled from.
pub async fn home(store: &Store, agent: AgentId) -> Result<Option<IpAddr>, StoreError> {
    sqlx::query_scalar("SELECT home FROM agents WHERE id = $1")
        .bind(agent.get())
        .fetch_optional(store.pool())
        .await
        .map_err(StoreError::doing("look up an agent's home"))
}

fn state_of(word: &str) -> Result<AgentState, StoreError> {
    AgentState::from_word(word).ok_or_else(|| StoreError::unreadable("agents.state"))
}
