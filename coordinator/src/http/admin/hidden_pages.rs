//! Sites and pages that an admin takes out of the public search, and shows again.

use axum::extract::State;
use axum::http::StatusCode;
use model::{HiddenId, HiddenKind, HiddenTarget};
use serde::{Deserialize, Serialize};
use store::hidden_from_search::{self, ENTRIES_MAX, HideOutcome};
use utoipa::ToSchema;

use crate::http::authentication::{Admin, Viewer};
use crate::http::extract::{Json, Path, Query, Validate};
use crate::http::paging::{Page, PageQuery};
use crate::http::problem::{FieldError, Problem};
use crate::http::state::ApiState;
use crate::http::timestamp::Timestamp;
use crate::runtime::failure::chain;
use crate::runtime::hidden_pages::TASK;
use crate::tasks::coordinator::Coordinator;

/// Longest reason, in characters.
const REASON_MAX: usize = 500;

/// A site or page that no search shows.
#[derive(Debug, Serialize, ToSchema)]
pub struct Hidden {
    /// Identifier of the entry.
    #[schema(value_type = String, example = "hid_3")]
    pub id: HiddenId,
    /// Whether it is a site or a page.
    pub kind: HiddenKind,
    /// Of a site its domain, of a page its URL, both normalised.
    #[schema(example = "example.org")]
    pub target: String,
    /// Why it is hidden.
    pub reason: String,
    /// Name of the admin who hid it.
    pub hidden_by: String,
    /// Time at which it was hidden.
    pub hidden_at: Timestamp,
}

impl From<hidden_from_search::Hidden> for Hidden {
    fn from(hidden: hidden_from_search::Hidden) -> Self {
        Self {
            id: hidden.id,
            kind: hidden.kind,
            target: hidden.target,
            reason: hidden.reason,
            hidden_by: hidden.hidden_by,
            hidden_at: hidden.hidden_at.into(),
        }
    }
}

/// A request to hide a site or a page.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HideRequest {
    /// A domain or address, which hides all pages of the host and of all hosts below it, or the
    /// whole URL of one page.
    #[schema(max_length = 8192, example = "example.org")]
    pub target: String,
    /// Why, in one line for other admins.
    #[schema(min_length = 1, max_length = 500)]
    pub reason: String,
}

impl Validate for HideRequest {
    fn errors(&self) -> Vec<FieldError> {
        let target = HiddenTarget::parse(&self.target).err();
        let target = target.map(|error| FieldError::new("target", error.to_string()));
        target
            .into_iter()
            .chain(FieldError::of_line("reason", &self.reason, 1, REASON_MAX))
            .collect()
    }
}

/// Sites and pages that no search shows, the newest first.
#[utoipa::path(get, path = "/api/v1/hidden", operation_id = "list_hidden", tag = "hiding",
    params(PageQuery), security(("session" = [])),
    responses((status = 200, body = Page<Hidden>)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<Hidden>>, Problem> {
    let limit = page.limit()?;
    let found = hidden_from_search::list(&state.core.store, page.before()?, limit + 1).await?;
    Ok(Json(Page::from_rows(found, limit, |hidden| hidden.id.get()).map(Hidden::from)))
}

/// Hide a site or a page from all searches, at once and until it is shown again. The crawl goes on.
#[utoipa::path(post, path = "/api/v1/hidden", operation_id = "hide", tag = "hiding",
    request_body = HideRequest, security(("session" = [])),
    responses((status = 201, body = Hidden)))]
pub async fn hide(
    admin: Admin,
    State(state): State<ApiState>,
    Json(request): Json<HideRequest>,
) -> Result<(StatusCode, Json<Hidden>), Problem> {
    let core = &state.core;
    let target = HiddenTarget::parse(&request.target)
        .map_err(|error| Problem::invalid(vec![FieldError::new("target", error.to_string())]))?;
    let reason = request.reason.trim();
    let outcome =
        hidden_from_search::hide(&core.store, &target, reason, &admin.name, core.now()).await?;
    let id = match outcome {
        HideOutcome::Hidden(id) => id,
        HideOutcome::Already => return Err(already_hidden(&target)),
        HideOutcome::Full => return Err(list_is_full()),
    };
    take_effect(core).await;
    let hidden = hidden_from_search::find(&core.store, id).await?;
    Ok((StatusCode::CREATED, Json(hidden.ok_or_else(|| unknown(id))?.into())))
}

/// Show a hidden site or page again; searches find its pages at once.
#[utoipa::path(delete, path = "/api/v1/hidden/{id}", operation_id = "show_hidden", tag = "hiding",
    params(("id" = String, Path, example = "hid_3")), security(("session" = [])),
    responses((status = 204, description = "Shown again")))]
pub async fn lift(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<HiddenId>,
) -> Result<StatusCode, Problem> {
    let core = &state.core;
    if !hidden_from_search::lift(&core.store, id, &admin.name, core.now()).await? {
        return Err(unknown(id));
    }
    take_effect(core).await;
    Ok(StatusCode::NO_CONTENT)
}

/// Lets the searches of this coordinator follow a change at once, and those of the others within
/// moments. The change is stored already, so that a failure only delays it.
async fn take_effect(core: &Coordinator) {
    core.peer_hints.wake_task(TASK);
    if let Err(error) = core.hidden_pages.refresh().await {
        tracing::warn!(error = chain(&*error), "searches follow a change with the next {TASK}");
    }
}

fn already_hidden(target: &HiddenTarget) -> Problem {
    let target = target.as_str();
    Problem::conflict(format!(
        "{target} is hidden from the search already; to change the reason, show it again first."
    ))
}

fn list_is_full() -> Problem {
    Problem::conflict(format!(
        "{ENTRIES_MAX} sites and pages are hidden, which is the limit; show some of them again, or \
         hide a whole site instead of its pages."
    ))
}

fn unknown(id: HiddenId) -> Problem {
    Problem::not_found(format!("There is no entry {id}; perhaps it is shown again already."))
}
