//! Requests of partners to host an agent, from [`create`] by the public form over an admin's
//! [`decide`] to the one-time link that [`open`] uses up.

use std::net::IpAddr;

use model::{AgentId, JoinRequestId, JoinRequestState, JoinTokenId, UnixMillis};
use serde_json::json;
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use sqlx::{FromRow, PgConnection, Row as _};

use crate::audit::{self, Entry};
use crate::columns::{ReadColumn as _, read_word};
use crate::join_tokens;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Actor of what happens by a link for a partner; no account may have this name.
const PARTNER: &str = "partner";

/// Time for which requests are kept, in milliseconds: 90 days.
const KEPT_MS: i64 = 90 * 24 * 60 * 60 * 1_000;

/// What a partner wrote into the form.
#[derive(Debug, Clone, Copy)]
pub struct New<'a> {
    /// Person, organisation or machine.
    pub name: &'a str,
    /// Mail address or web page.
    pub contact: &'a str,
    /// Where the machine is; may be empty.
    pub place: &'a str,
    /// IANA zone of the spans.
    pub zone: &'a str,
    /// Hours in which the agent may work; empty means always.
    pub spans: &'a [String],
    /// What else the partner wrote; may be empty.
    pub message: &'a str,
    /// IPv4 address or IPv6 /64 that the request came from.
    pub network: IpAddr,
}

/// How many requests are taken.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Requests of one network within `window_ms`.
    pub per_network: i64,
    /// Requests of one IPv6 /48 within `window_ms`, because its owner has 65,536 networks.
    pub per_site: i64,
    /// Time in which requests of a network are counted, in milliseconds.
    pub window_ms: i64,
    /// Requests that are not decided yet.
    pub waiting: i64,
}

/// What became of a request that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryOutcome {
    /// It waits for an admin.
    Entered(JoinRequestId),
    /// Its network sent too many.
    NetworkFull,
    /// Too many wait.
    QueueFull,
}

/// Enters a request within the limits. Two at the same time may both pass the last free place.
pub async fn create(
    store: &Store,
    new: &New<'_>,
    limits: Limits,
    now: UnixMillis,
) -> Result<EntryOutcome, StoreError> {
    let (id, is_network_full): (Option<i64>, bool) =
        sqlx::query_as(include_str!("join_requests/create.sql"))
            .bind(new.name)
            .bind(new.contact)
            .bind(new.place)
            .bind(new.zone)
            .bind(Json(new.spans))
            .bind(new.message)
            .bind(new.network)
            .bind(Moment(now))
            .bind(Moment(now.plus_ms(-KEPT_MS)))
            .bind(Moment(now.plus_ms(-limits.window_ms)))
            .bind(limits.per_network)
            .bind(limits.waiting)
            .bind(limits.per_site)
            .fetch_one(&store.pool())
            .await
            .map_err(StoreError::doing("enter a request to host an agent"))?;
    Ok(match id {
        Some(id) => EntryOutcome::Entered(JoinRequestId::new(id)),
        None if is_network_full => EntryOutcome::NetworkFull,
        None => EntryOutcome::QueueFull,
    })
}

/// A request as admins see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinRequest {
    /// Identifier of the request.
    pub id: JoinRequestId,
    /// What the admins decided.
    pub state: JoinRequestState,
    /// Person, organisation or machine.
    pub name: String,
    /// Mail address or web page.
    pub contact: String,
    /// Where the machine is; may be empty.
    pub place: String,
    /// IANA zone of the spans.
    pub zone: String,
    /// Hours in which the agent may work; empty means always.
    pub spans: Vec<String>,
    /// What else the partner wrote; may be empty.
    pub message: String,
    /// Network that it came from.
    pub network: IpAddr,
    /// When it arrived.
    pub created_at: UnixMillis,
    /// When it was decided, and by which admin.
    pub decision: Option<(UnixMillis, String)>,
    /// When the link is worthless; none without a link.
    pub invitation_expires_at: Option<UnixMillis>,
    /// When the link was used.
    pub opened_at: Option<UnixMillis>,
    /// The agent that joined, and its name.
    pub agent: Option<(AgentId, String)>,
}

impl FromRow<'_, PgRow> for JoinRequest {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let id: i64 = row.try_get("id")?;
        Ok(Self {
            id: JoinRequestId::new(id),
            state: read_word("join_requests", "state", id, row.try_get("state")?)?,
            name: row.try_get("name")?,
            contact: row.try_get("contact")?,
            place: row.try_get("place")?,
            zone: row.try_get("zone")?,
            spans: row.try_get::<Json<_>, _>("spans")?.0,
            message: row.try_get("message")?,
            network: row.try_get("network")?,
            created_at: row.read("created_at")?,
            decision: row.read::<Option<_>>("decided_at")?.zip(row.try_get("decided_by")?),
            invitation_expires_at: row.read("invitation_expires_at")?,
            opened_at: row.read("opened_at")?,
            agent: row.read::<Option<_>>("used_by")?.zip(row.try_get("agent_name")?),
        })
    }
}

/// Requests with a number below `before`, the newest first; of one state, if one is given.
pub async fn list(
    store: &Store,
    state: Option<JoinRequestState>,
    before: i64,
    limit: i64,
) -> Result<Vec<JoinRequest>, StoreError> {
    sqlx::query_as(include_str!("join_requests/list.sql"))
        .bind(before)
        .bind(limit)
        .bind(state.map(JoinRequestState::as_str))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the requests to host an agent"))
}

/// The request with this identifier.
pub async fn find(store: &Store, id: JoinRequestId) -> Result<Option<JoinRequest>, StoreError> {
    let found = list(store, None, id.get().saturating_add(1), 1).await?;
    Ok(found.into_iter().find(|request| request.id == id))
}

/// The secret of a new one-time link, or a new join token.
#[derive(Debug, Clone, Copy)]
pub struct NewSecret<'a> {
    /// SHA-256 of the secret.
    pub sha256: &'a [u8],
    /// Worthless from then on.
    pub expires_at: UnixMillis,
}

/// What became of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The request is as wanted now.
    Done,
    /// There is no such request.
    Unknown,
    /// An agent has joined with it already.
    Joined,
    /// Somebody else decided about it since it was shown: it is in this state now.
    Decided(JoinRequestState),
}

/// Accepts a request with a new one-time link, also one that was declined, or accepted with a link
/// that was lost; without a link, declines it. Earlier links become worthless. With `shown` nothing
/// happens to a request that is in another state.
pub async fn decide(
    store: &Store,
    id: JoinRequestId,
    shown: Option<JoinRequestState>,
    link: Option<NewSecret<'_>>,
    actor: &str,
    now: UnixMillis,
) -> Result<Decision, StoreError> {
    let doing = StoreError::doing("decide about a request to host an agent");
    let mut tx = store.begin().await.map_err(doing)?;
    let name: Option<String> = sqlx::query_scalar(include_str!("join_requests/decide.sql"))
        .bind(id.get())
        .bind(actor)
        .bind(Moment(now))
        .bind(link.map(|link| link.sha256))
        .bind(link.map(|link| Moment(link.expires_at)))
        .bind(shown.map(JoinRequestState::as_str))
        .fetch_optional(&mut *tx)
        .await
        .map_err(doing)?;
    let Some(name) = name else {
        drop(tx);
        return Ok(match find(store, id).await? {
            None => Decision::Unknown,
            Some(JoinRequest { agent: None, state, .. }) if shown.is_some_and(|it| it != state) => {
                Decision::Decided(state)
            }
            Some(_) => Decision::Joined,
        });
    };
    let action = if link.is_some() { "join_request.accept" } else { "join_request.decline" };
    let entry = Entry::new(actor, action, id, json!({ "name": name }));
    audit::write_in(&mut tx, &entry, now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(Decision::Done)
}

/// What became of an attempt to use a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkUse {
    /// The token was made; this is the request it belongs to.
    Now(JoinRequestId),
    /// The link was used at this time already.
    Before(UnixMillis),
    /// The link has expired.
    Expired,
    /// There is no such link, or a newer one replaced it.
    Unknown,
}

/// Uses a link up: makes the join token of its request.
pub async fn open(
    store: &Store,
    invitation_sha256: &[u8],
    token: NewSecret<'_>,
    now: UnixMillis,
) -> Result<LinkUse, StoreError> {
    let doing = StoreError::doing("open an invitation");
    let mut tx = store.begin().await.map_err(doing)?;
    let found: Option<(i64, String, String, Moment, Option<Moment>)> = sqlx::query_as(
        "SELECT id, name, decided_by, invitation_expires_at, opened_at FROM join_requests
         WHERE invitation_sha256 = $1 FOR UPDATE",
    )
    .bind(invitation_sha256)
    .fetch_optional(&mut *tx)
    .await
    .map_err(doing)?;
    let Some((id, name, decided_by, expires_at, opened_at)) = found else {
        return Ok(LinkUse::Unknown);
    };
    if let Some(at) = opened_at {
        return Ok(LinkUse::Before(at.0));
    }
    if expires_at.0 <= now {
        return Ok(LinkUse::Expired);
    }
    let NewSecret { sha256, expires_at } = token;
    let new = join_tokens::New { sha256, name: &name, created_by: &decided_by, expires_at };
    let join_token = join_tokens::create_in(&mut tx, &new, now).await?;
    mark_opened(&mut tx, id, join_token, now).await?;
    let id = JoinRequestId::new(id);
    // Any person with the link can open it, so the entry does not name the admin who accepted the
    // request.
    let detail = json!({ "join_token": join_token });
    let entry = Entry::new(PARTNER, "join_request.open", id, detail);
    audit::write_in(&mut tx, &entry, now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(LinkUse::Now(id))
}

async fn mark_opened(
    db: &mut PgConnection,
    id: i64,
    join_token: JoinTokenId,
    now: UnixMillis,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE join_requests SET opened_at = $2, join_token = $3 WHERE id = $1")
        .bind(id)
        .bind(Moment(now))
        .bind(join_token.get())
        .execute(db)
        .await
        .map_err(StoreError::doing("mark an invitation as opened"))?;
    Ok(())
}

/// Number of undecided requests; bounded by [`Limits::waiting`].
pub async fn waiting(store: &Store) -> Result<u64, StoreError> {
    let count: i64 =
        sqlx::query_scalar("SELECT count(*) FROM join_requests WHERE state = 'waiting'")
            .fetch_one(&store.pool())
            .await
            .map_err(StoreError::doing("count the requests to host an agent"))?;
    Ok(count.unsigned_abs())
}
