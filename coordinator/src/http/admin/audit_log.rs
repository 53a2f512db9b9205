//! Audit log: who changed what, and when.

use axum::extract::State;
use model::UnixMillis;
use store::audit::{self, Filter};

use crate::http::admin::dto::audit_log::{
    AuditActionCount, AuditCounts, AuditEntry, AuditLog, AuditQuery,
};
use crate::http::authentication::Viewer;
use crate::http::extract::{Json, Query};
use crate::http::paging::{Page, PageQuery};
use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// The audit log, the newest entry first.
#[utoipa::path(get, path = "/api/v1/audit/entries", operation_id = "list_audit_entries",
    tag = "accounts", params(AuditQuery, PageQuery), security(("session" = [])),
    responses((status = 200, body = AuditLog)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(query): Query<AuditQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Json<AuditLog>, Problem> {
    let limit = page.limit()?;
    let filter = Filter {
        actor: given(query.actor.as_deref()),
        action: given(query.action.as_deref()),
        subject: given(query.subject.as_deref()),
        from: time("from", query.from.as_deref())?,
        until: time("until", query.until.as_deref())?,
    };
    let found = audit::list(&state.core.store, &filter, page.before()?, limit + 1).await?;
    let page = Page::from_rows(found, limit, |entry| entry.id).map(AuditEntry::from);
    let counts = match query.counts {
        Some(true) => Some(counts(&state, &filter).await?),
        _ => None,
    };
    Ok(Json(AuditLog { items: page.items, next_cursor: page.next_cursor, counts }))
}

async fn counts(state: &ApiState, filter: &Filter<'_>) -> Result<AuditCounts, Problem> {
    let (total, actions) = audit::count_by_action(&state.core.store, filter).await?;
    let actions = actions.into_iter().map(|(action, entries)| AuditActionCount { action, entries });
    Ok(AuditCounts { total: total.into(), actions: actions.collect() })
}

/// A text of a query; an empty one is none.
fn given(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

/// A point in time of a query; an empty one is none.
pub(super) fn time(field: &str, text: Option<&str>) -> Result<Option<UnixMillis>, Problem> {
    let Some(text) = given(text) else { return Ok(None) };
    let parsed: Result<jiff::Timestamp, _> = text.parse();
    let time = parsed.map_err(|_| {
        Problem::bad_parameter(field, "not a time such as 2018-10-13T06:00:00Z (RFC 3339)")
    })?;
    // No entry is older than 1970, and Postgres cannot hold all times that can be parsed.
    Ok(Some(UnixMillis(time.as_millisecond().max(0))))
}
