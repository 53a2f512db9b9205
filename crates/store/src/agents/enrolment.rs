//! Enrolment of agents with a join token.

use std::net::IpAddr;

use model::{AgentId, AgentState, UnixMillis};
use protocol::enrol::AgentProfile;
use protocol::key::PublicKey;
use sqlx::PgConnection;

use crate::columns::{int, read_word};
use crate::moment::Moment;
use crate::{Store, StoreError};

/// An agent that asks to be enrolled.
#[derive(Debug, Clone, Copy)]
pub struct Newcomer<'a> {
    /// Public key of the agent: its identity.
    pub key: &'a PublicKey,
    /// Its name, contact, capacity, spans and place, as its owner wrote them.
    pub profile: &'a AgentProfile,
    /// The address it was seen from.
    pub home: IpAddr,
}

/// Outcome of an enrolment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enrolment {
    /// The agent is enrolled, now or since an earlier request.
    Enrolled {
        agent: AgentId,
        /// What the admins decided about it.
        state: AgentState,
        /// Whether this request enrolled it.
        fresh: bool,
    },
    /// No such token was issued.
    UnknownToken,
    /// Another agent used this token.
    UsedToken,
    /// The token has expired.
    ExpiredToken,
    /// An admin revoked the token.
    RevokedToken,
}

/// Enrols an agent, using up its join token. A key that is known needs no token: it gets the same
/// agent, its profile is renewed, and while it is pending also its home.
pub async fn enrol(
    store: &Store,
    token_sha256: &[u8],
    newcomer: &Newcomer<'_>,
    now: UnixMillis,
) -> Result<Enrolment, StoreError> {
    let doing = StoreError::doing("enrol an agent");
    let mut tx = store.begin().await.map_err(doing)?;
    let (id, state, fresh) = upsert(&mut tx, newcomer, now).await?;
    // A revoked agent must not change the name under which it is known.
    if state == AgentState::Revoked {
        tx.rollback().await.map_err(doing)?;
        return Ok(Enrolment::Enrolled { agent: AgentId::new(id), state, fresh });
    }
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
    let (id, state, fresh): (i64, String, bool) = sqlx::query_as(include_str!("upsert.sql"))
        .bind(newcomer.key.to_bytes().as_slice())
        .bind(&profile.name)
        .bind(&profile.contact)
        .bind(&profile.version)
        .bind(int(profile.capacity_pages_per_day))
        .bind(&profile.zone)
        .bind(sqlx::types::Json(&profile.spans))
        .bind(newcomer.home)
        .bind(profile.place.as_ref().map(sqlx::types::Json))
        .bind(Moment(now))
        .fetch_one(db)
        .await
        .map_err(StoreError::doing("enrol an agent"))?;
    Ok((id, read_word("agents", "state", id, &state)?, fresh))
}

/// Stores what the owner of an enrolled agent has changed in its profile; returns whether anything
/// had. Its place comes with each heartbeat, and its home only with an enrolment.
pub async fn renew_profile(
    store: &Store,
    agent: AgentId,
    profile: &AgentProfile,
) -> Result<bool, StoreError> {
    let changed = sqlx::query(
        "UPDATE agents SET name = $2, contact = $3, version = $4, capacity_pages_per_day = $5,
             zone = $6, spans = $7
         WHERE id = $1 AND (name, contact, version, capacity_pages_per_day, zone, spans)
             IS DISTINCT FROM ($2, $3, $4, $5, $6, $7)",
    )
    .bind(agent.get())
    .bind(&profile.name)
    .bind(&profile.contact)
    .bind(&profile.version)
    .bind(int(profile.capacity_pages_per_day))
    .bind(&profile.zone)
    .bind(sqlx::types::Json(&profile.spans))
    .execute(&store.pool())
    .await
    .map_err(StoreError::doing("renew the profile of an agent"))?;
    Ok(changed.rows_affected() > 0)
}

async fn use_token(
    db: &mut PgConnection,
    sha256: &[u8],
    agent: i64,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let used = sqlx::query(
        "UPDATE join_tokens SET used_by = $2, used_at = $3
         WHERE token_sha256 = $1 AND used_by IS NULL AND revoked_at IS NULL AND expires_at > $3",
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
    let token: Option<(bool, bool, Moment)> = sqlx::query_as(
        "SELECT used_by IS NOT NULL, revoked_at IS NOT NULL, expires_at FROM join_tokens
         WHERE token_sha256 = $1",
    )
    .bind(sha256)
    .fetch_optional(&store.pool())
    .await
    .map_err(StoreError::doing("look up a join token"))?;
    Ok(match token {
        Some((true, _, _)) => Enrolment::UsedToken,
        Some((false, true, _)) => Enrolment::RevokedToken,
        Some((false, false, expires)) if expires.0 <= now => Enrolment::ExpiredToken,
        _ => Enrolment::UnknownToken,
    })
}
