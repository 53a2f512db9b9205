//! Pins and exclusions: constraints that admins set on delegations.

use hierarchy::remap::Remapping;
use hierarchy::{Range, Scope};
use model::{AgentId, UnixMillis};
use serde_json::json;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};

use crate::audit::{self, Entry};
use crate::columns::ReadColumn as _;
use crate::moment::Moment;
use crate::scope::{Columns, read_scope};
use crate::{Store, StoreError};

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The agent crawls it.
    Pin,
    /// The agent never crawls it.
    Exclusion,
}

impl Kind {
    /// The word in the table and in the audit.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pin => "pin",
            Self::Exclusion => "exclusion",
        }
    }

    /// Its number as people read it.
    fn name(self, id: i64) -> String {
        match self {
            Self::Pin => model::PinId::new(id).to_string(),
            Self::Exclusion => model::ExclusionId::new(id).to_string(),
        }
    }
}

/// A pin or an exclusion to be created.
#[derive(Debug, Clone)]
pub struct NewConstraint<'a> {
    /// Which of the two.
    pub kind: Kind,
    /// What it is about. Only an exclusion may be about a country.
    pub scope: &'a Scope,
    pub agent: AgentId,
    /// Why, in the admin's words.
    pub reason: &'a str,
    /// The admin who decided it.
    pub by: &'a str,
    /// It counts until then; none: until it is removed.
    pub expires_at: Option<UnixMillis>,
}

/// Outcome of a creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateOutcome {
    /// It applies, under this number.
    Created(i64),
    /// There is one for the same scope (of an exclusion: and the same agent).
    Taken,
    /// The agent is not approved or paused, or there is no such agent.
    AgentGone,
}

/// Creates a pin or an exclusion, with an entry in the audit log.
pub async fn create(
    store: &Store,
    new: &NewConstraint<'_>,
    now: UnixMillis,
) -> Result<CreateOutcome, StoreError> {
    let doing = StoreError::doing("create a pin or an exclusion");
    let mut tx = store.begin().await.map_err(doing)?;
    if !crate::working_agents::may_work(&mut tx, new.agent).await? {
        return Ok(CreateOutcome::AgentGone);
    }
    let columns = Columns::of(new.scope);
    let id: Option<i64> = sqlx::query_scalar(include_str!("constraints/create.sql"))
        .bind(new.kind.as_str())
        .bind(columns.scope)
        .bind(columns.first)
        .bind(columns.last)
        .bind(columns.registry)
        .bind(columns.handle)
        .bind(columns.country)
        .bind(new.agent.get())
        .bind(new.reason)
        .bind(new.by)
        .bind(Moment(now))
        .bind(new.expires_at.map(Moment))
        .fetch_optional(&mut *tx)
        .await
        .map_err(doing)?;
    let Some(id) = id else { return Ok(CreateOutcome::Taken) };
    let detail = json!({
        "scope": new.scope.to_string(), "agent": new.agent, "reason": new.reason,
        "expires_at_ms": new.expires_at,
    });
    let action = format!("{}.create", new.kind.as_str());
    let entry = Entry::new(new.by, &action, new.kind.name(id), detail);
    audit::write_in(&mut tx, &entry, now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(CreateOutcome::Created(id))
}

/// Removes a pin or an exclusion, with an entry in the audit log. Returns whether it applied until
/// now.
pub async fn remove(
    store: &Store,
    kind: Kind,
    id: i64,
    by: &str,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let doing = StoreError::doing("remove a pin or an exclusion");
    let mut tx = store.begin().await.map_err(doing)?;
    let removed = sqlx::query(include_str!("constraints/remove.sql"))
        .bind(id)
        .bind(kind.as_str())
        .bind(Moment(now))
        .bind(by)
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    if removed.rows_affected() == 0 {
        return Ok(false);
    }
    let action = format!("{}.remove", kind.as_str());
    let entry = Entry::new(by, &action, kind.name(id), json!({}));
    audit::write_in(&mut tx, &entry, now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(true)
}

/// Ends expired ones and those whose agent was revoked or leaves, each with an entry in the audit
/// log. Returns their number.
pub async fn expire(store: &Store, now: UnixMillis) -> Result<u64, StoreError> {
    let ended = sqlx::query(include_str!("constraints/expire.sql"))
        .bind(Moment(now))
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("end pins and exclusions whose time is over"))?;
    Ok(ended.rows_affected())
}

/// Moves pins and exclusions about ranges to their ranges in a new generation; one whose range has
/// vanished, or whose new range has another of its kind, ends. Each change has an entry in the
/// audit log, all in one transaction.
pub async fn remap(
    store: &Store,
    remapped: &[Remapping<i64>],
    now: UnixMillis,
) -> Result<(), StoreError> {
    let doing = StoreError::doing("remap pins and exclusions");
    let moved: Vec<_> = remapped.iter().filter(|one| !one.stays()).collect();
    let places: Vec<_> = moved.iter().map(|one| one.assigned.first()).collect();
    sqlx::query(include_str!("constraints/remap.sql"))
        .bind(moved.iter().map(|one| one.claim.key).collect::<Vec<_>>())
        .bind(places.iter().map(|place| place.map(Range::first)).collect::<Vec<_>>())
        .bind(places.iter().map(|place| place.map(Range::last)).collect::<Vec<_>>())
        .bind(moved.iter().map(|one| one.change.as_str()).collect::<Vec<_>>())
        .bind(Moment(now))
        .execute(&store.pool())
        .await
        .map_err(doing)?;
    Ok(())
}

/// A pin or an exclusion of a company whose handle a new generation does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostCompany {
    /// Which of the two.
    pub kind: Kind,
    /// Primary key of the row.
    pub id: i64,
    /// The company, as the constraint names it.
    pub scope: Scope,
    /// The company that has its ranges now; none if no company has.
    pub becomes: Option<Scope>,
}

/// Gives constraints the companies that have the ranges of theirs now, each with an entry in the
/// audit log, all in one transaction. One whose new company has another of its kind ends.
pub async fn follow_companies(
    store: &Store,
    lost: &[LostCompany],
    now: UnixMillis,
) -> Result<(), StoreError> {
    let doing = StoreError::doing("rename the companies of pins and exclusions");
    let mut tx = store.begin().await.map_err(doing)?;
    for one in lost {
        let Some(becomes) = &one.becomes else { continue };
        let columns = Columns::of(becomes);
        let renamed: Option<bool> = sqlx::query_scalar(include_str!("constraints/rename.sql"))
            .bind(one.id)
            .bind(columns.registry)
            .bind(columns.handle)
            .bind(Moment(now))
            .fetch_optional(&mut *tx)
            .await
            .map_err(doing)?;
        let Some(goes_on) = renamed else { continue };
        let action = format!("{}.{}", one.kind.as_str(), if goes_on { "remap" } else { "end" });
        let detail = json!({ "from": one.scope.to_string(), "to": becomes.to_string() });
        let entry = Entry::new("coordinator", &action, one.kind.name(one.id), detail);
        audit::write_in(&mut tx, &entry, now).await?;
    }
    tx.commit().await.map_err(doing)
}

/// A pin or an exclusion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint {
    /// Primary key of the row.
    pub id: i64,
    pub scope: Scope,
    pub agent: AgentId,
    /// That agent's name.
    pub agent_name: String,
    /// Why, in the admin's words.
    pub reason: String,
    /// The admin who decided it.
    pub created_by: String,
    /// When it was made.
    pub created_at: UnixMillis,
    /// It counts until then; none: until it is removed.
    pub expires_at: Option<UnixMillis>,
    /// When it ended, and the actor that ended it; none while it applies.
    pub ended: Option<(UnixMillis, String)>,
}

impl FromRow<'_, PgRow> for Constraint {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            id: row.try_get("id")?,
            scope: read_scope(row)?,
            agent: row.read("agent")?,
            agent_name: row.try_get("agent_name")?,
            reason: row.try_get("reason")?,
            created_by: row.try_get("created_by")?,
            created_at: row.read("created_at")?,
            expires_at: row.read("expires_at")?,
            ended: row.read::<Option<_>>("ended_at")?.zip(row.try_get("ended_by")?),
        })
    }
}

/// Those that apply now; with `ended` also those that have ended. The newest first, with a number
/// below `before`.
pub async fn list(
    store: &Store,
    kind: Kind,
    ended: bool,
    before: i64,
    limit: i64,
) -> Result<Vec<Constraint>, StoreError> {
    sqlx::query_as(include_str!("constraints/list.sql"))
        .bind(kind.as_str())
        .bind(before)
        .bind(ended)
        .bind(limit)
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list pins or exclusions"))
}

/// All that apply at this moment, also before [`expire`] has ended the expired ones.
pub async fn list_active(
    store: &Store,
    kind: Kind,
    now: UnixMillis,
) -> Result<Vec<Constraint>, StoreError> {
    let all = list(store, kind, false, i64::MAX, i64::MAX).await?;
    Ok(all.into_iter().filter(|rule| rule.expires_at.is_none_or(|at| at > now)).collect())
}
