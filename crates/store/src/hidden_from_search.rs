//! Sites and pages that no search shows: [`hide`] and [`lift`] change the list, and coordinators
//! read it whole when [`changes`] has risen.

use model::url::fingerprint;
use model::{CrawlUrl, HiddenId, HiddenKind, HiddenTarget, UnixMillis};
use serde_json::json;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, Row as _};

use crate::audit::{self, Entry};
use crate::columns::{ReadColumn as _, read_word};
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Most entries of the list, so that it fits into the memory and the searches of each coordinator.
pub const ENTRIES_MAX: i64 = 10_000;

/// A site or page that is hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hidden {
    /// Identifier of the entry.
    pub id: HiddenId,
    /// Whether it is a site or a page.
    pub kind: HiddenKind,
    /// The domain of the site, or the URL of the page.
    pub target: String,
    /// Why, in the admin's words.
    pub reason: String,
    /// The admin who hid it.
    pub hidden_by: String,
    /// When it was hidden.
    pub hidden_at: UnixMillis,
}

impl FromRow<'_, PgRow> for Hidden {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let number: i64 = row.try_get("number")?;
        Ok(Self {
            id: HiddenId::new(number),
            kind: read_word("hidden_from_search", "kind", number, row.try_get("kind")?)?,
            target: row.try_get("target")?,
            reason: row.try_get("reason")?,
            hidden_by: row.try_get("hidden_by")?,
            hidden_at: row.read("hidden_at")?,
        })
    }
}

/// What became of an attempt to hide something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HideOutcome {
    /// It is hidden now, under this identifier.
    Hidden(HiddenId),
    /// It was hidden before.
    Already,
    /// The list has [`ENTRIES_MAX`] entries.
    Full,
}

/// Hides a site or page, with an entry by `actor` in the audit log.
pub async fn hide(
    store: &Store,
    target: &HiddenTarget,
    reason: &str,
    actor: &str,
    now: UnixMillis,
) -> Result<HideOutcome, StoreError> {
    let doing = StoreError::doing("hide something from the search");
    let mut tx = store.begin().await.map_err(doing)?;
    count_change(&mut tx).await?;
    let (number, is_hidden): (Option<i64>, bool) =
        sqlx::query_as(include_str!("hidden_from_search/insert.sql"))
            .bind(target.as_str())
            .bind(target.kind().as_str())
            .bind(reason)
            .bind(actor)
            .bind(Moment(now))
            .bind(ENTRIES_MAX)
            .fetch_one(&mut *tx)
            .await
            .map_err(doing)?;
    let Some(number) = number else {
        return Ok(if is_hidden { HideOutcome::Already } else { HideOutcome::Full });
    };
    let detail = json!({ "kind": target.kind(), "reason": reason });
    let entry = Entry::new(actor, "search.hide", target.as_str(), detail);
    audit::write_in(&mut tx, &entry, now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(HideOutcome::Hidden(HiddenId::new(number)))
}

/// Shows a site or page again, with an entry by `actor` in the audit log. Returns whether it was
/// hidden.
pub async fn lift(
    store: &Store,
    id: HiddenId,
    actor: &str,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let doing = StoreError::doing("show something in the search again");
    let mut tx = store.begin().await.map_err(doing)?;
    count_change(&mut tx).await?;
    let removed: Option<(String, String)> =
        sqlx::query_as("DELETE FROM hidden_from_search WHERE number = $1 RETURNING target, reason")
            .bind(id.get())
            .fetch_optional(&mut *tx)
            .await
            .map_err(doing)?;
    let Some((target, reason)) = removed else { return Ok(false) };
    let detail = json!({ "reason_for_hiding": reason });
    let entry = Entry::new(actor, "search.show", target, detail);
    audit::write_in(&mut tx, &entry, now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(true)
}

/// Counts a change. The lock on the row is held until the transaction ends, so that the limit is
/// kept and numbers rise in the order of commits.
async fn count_change(db: &mut PgConnection) -> Result<(), StoreError> {
    sqlx::query("UPDATE hidden_from_search_changes SET last = last + 1")
        .execute(db)
        .await
        .map_err(StoreError::doing("change what is hidden from the search"))?;
    Ok(())
}

/// Number of changes so far.
pub async fn changes(store: &Store) -> Result<i64, StoreError> {
    sqlx::query_scalar("SELECT last FROM hidden_from_search_changes")
        .fetch_one(&store.pool())
        .await
        .map_err(StoreError::doing("ask whether something else is hidden from the search"))
}

/// Entries with a number below `before`, the newest first.
pub async fn list(store: &Store, before: i64, limit: i64) -> Result<Vec<Hidden>, StoreError> {
    sqlx::query_as(
        "SELECT number, kind, target, reason, hidden_by, hidden_at FROM hidden_from_search
         WHERE number < $1 ORDER BY number DESC LIMIT $2",
    )
    .bind(before)
    .bind(limit)
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("list what is hidden from the search"))
}

/// The entry with this identifier.
pub async fn find(store: &Store, id: HiddenId) -> Result<Option<Hidden>, StoreError> {
    let found = list(store, id.get().saturating_add(1), 1).await?;
    Ok(found.into_iter().find(|hidden| hidden.id == id))
}

/// The newest entry by which the page with this URL, in any spelling, is hidden.
pub async fn find_any(store: &Store, url: &CrawlUrl) -> Result<Option<Hidden>, StoreError> {
    let entries: Vec<Hidden> = sqlx::query_as(
        "SELECT number, kind, target, reason, hidden_by, hidden_at FROM hidden_from_search
         WHERE target = ANY ($1) OR kind = 'page' AND starts_with(target, $2)
         ORDER BY number DESC",
    )
    .bind(HiddenTarget::sites_of(url))
    .bind(format!("{}/", url.host_key_str()))
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("look up whether a page is hidden from the search"))?;
    let key = url.fingerprint();
    let hides =
        |hidden: &Hidden| hidden.kind != HiddenKind::Page || fingerprint(&hidden.target) == key;
    Ok(entries.into_iter().find(hides))
}
