//! The admin's hand: pins, exclusions and overrides, each with a preview.

use axum::extract::State;
use axum::http::StatusCode;
use hierarchy::Range;
use model::{DelegationId, ExclusionId, PinId, UnixMillis};
use store::constraints::{self as rules, Kind, Rule};

use crate::http::admin::constraint_preview::{of_field, refused, shown};
use crate::http::admin::delegations;
use crate::http::admin::dto::{
    AgentRef, ConstraintAnswer, ConstraintQuery, ConstraintRequest, Constraints, DryRun,
    OverrideAnswer, OverrideRequest, Scope,
};
use crate::http::admin::subnet_lookup::no_hierarchy;
use crate::http::authentication::{Admin, Viewer};
use crate::http::extract::{Json, Path, Query};
use crate::http::paging::{Page, Part};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::placement::constraints::override_delegation::{Override, override_once};
use crate::placement::constraints::requests::{self, Wish};

/// Pins that count, the newest first.
#[utoipa::path(get, path = "/api/v1/pins", operation_id = "list_pins", tag = "delegations", params(ConstraintQuery),
    security(("session" = [])), responses((status = 200, body = Page<Constraints>)))]
pub async fn pins(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(wanted): Query<ConstraintQuery>,
) -> Result<Json<Page<Constraints>>, Problem> {
    list(&state, Kind::Pin, wanted).await
}

/// Pin a range or a company's subnets to an agent: it crawls them until the pin expires or is
/// removed, whatever is measured.
#[utoipa::path(post, path = "/api/v1/pins", operation_id = "create_pin", tag = "delegations", params(DryRun),
    request_body = ConstraintRequest, security(("session" = [])),
    responses((status = 201, body = ConstraintAnswer), (status = 200, body = ConstraintAnswer, description = "A preview")))]
pub async fn pin(
    admin: Admin,
    State(state): State<ApiState>,
    Query(dry_run): Query<DryRun>,
    Json(wish): Json<ConstraintRequest>,
) -> Result<(StatusCode, Json<ConstraintAnswer>), Problem> {
    make(&state, &admin, Kind::Pin, &wish, dry_run.wanted()).await
}

/// Remove a pin: its subnets are searched for anew.
#[utoipa::path(delete, path = "/api/v1/pins/{id}", operation_id = "remove_pin", tag = "delegations",
    params(("id" = String, Path, example = "pin_3"), DryRun), security(("session" = [])),
    responses((status = 200, body = ConstraintAnswer)))]
pub async fn unpin(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<PinId>,
    Query(dry_run): Query<DryRun>,
) -> Result<Json<ConstraintAnswer>, Problem> {
    remove(&state, &admin, Kind::Pin, id.get(), dry_run.wanted()).await
}

/// Exclusions that count, the newest first.
#[utoipa::path(get, path = "/api/v1/exclusions", operation_id = "list_exclusions", tag = "delegations",
    params(ConstraintQuery), security(("session" = [])), responses((status = 200, body = Page<Constraints>)))]
pub async fn exclusions(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(wanted): Query<ConstraintQuery>,
) -> Result<Json<Page<Constraints>>, Problem> {
    list(&state, Kind::Exclusion, wanted).await
}

/// Exclude an agent from a range, a company or a country: it is neither asked about it nor chosen
/// for it.
#[utoipa::path(post, path = "/api/v1/exclusions", operation_id = "create_exclusion", tag = "delegations",
    params(DryRun), request_body = ConstraintRequest, security(("session" = [])),
    responses((status = 201, body = ConstraintAnswer), (status = 200, body = ConstraintAnswer, description = "A preview")))]
pub async fn exclude(
    admin: Admin,
    State(state): State<ApiState>,
    Query(dry_run): Query<DryRun>,
    Json(wish): Json<ConstraintRequest>,
) -> Result<(StatusCode, Json<ConstraintAnswer>), Problem> {
    make(&state, &admin, Kind::Exclusion, &wish, dry_run.wanted()).await
}

/// Remove an exclusion: searches may ask the agent again.
#[utoipa::path(delete, path = "/api/v1/exclusions/{id}", operation_id = "remove_exclusion", tag = "delegations",
    params(("id" = String, Path, example = "exc_4"), DryRun), security(("session" = [])),
    responses((status = 200, body = ConstraintAnswer)))]
pub async fn readmit(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<ExclusionId>,
    Query(dry_run): Query<DryRun>,
) -> Result<Json<ConstraintAnswer>, Problem> {
    remove(&state, &admin, Kind::Exclusion, id.get(), dry_run.wanted()).await
}

/// Give a delegated subnet to another agent now, once; later searches and balance may move it on.
#[utoipa::path(post, path = "/api/v1/delegations/{id}/override", operation_id = "override_delegation",
    tag = "delegations", params(("id" = String, Path, example = "dlg_7"), DryRun), request_body = OverrideRequest,
    security(("session" = [])), responses((status = 200, body = OverrideAnswer)))]
pub async fn override_delegation(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<DelegationId>,
    Query(dry_run): Query<DryRun>,
    Json(wish): Json<OverrideRequest>,
) -> Result<Json<OverrideAnswer>, Problem> {
    let found = delegations::read(&state, id).await?;
    let wish = Override {
        delegation: id,
        subnet: found.subnet,
        agent: wish.agent,
        reason: wish.reason.trim(),
        by: &admin.name,
    };
    let outcome = override_once(&state.core.placement, &wish, dry_run.wanted()).await?;
    let (made, preview) = outcome.map_err(|refusal| refused(&refusal))?;
    let delegation = match made {
        Some(made) => {
            let found = delegations::read(&state, made).await?;
            Some(delegations::shown(state.core.delegated().as_deref(), &found))
        }
        None => None,
    };
    Ok(Json(OverrideAnswer { delegation, preview: shown(&state, preview).await? }))
}

async fn list(
    state: &ApiState,
    kind: Kind,
    wanted: ConstraintQuery,
) -> Result<Json<Page<Constraints>>, Problem> {
    let part = Part { limit: wanted.limit, cursor: wanted.cursor };
    let (before, limit) = (part.before()?, part.limit()?);
    let ended = wanted.ended == Some(true);
    let found = rules::list(&state.core.store, kind, ended, before, limit + 1).await?;
    Ok(Json(Page::cut(found, limit, |rule| rule.id).map(|rule| of_rule(kind, rule))))
}

async fn make(
    state: &ApiState,
    admin: &Admin,
    kind: Kind,
    wish: &ConstraintRequest,
    dry_run: bool,
) -> Result<(StatusCode, Json<ConstraintAnswer>), Problem> {
    let wish = Wish {
        kind,
        scope: scope(state, kind, &wish.scope)?,
        agent: wish.agent,
        reason: wish.reason.trim(),
        expires_at: wish.expires_at.as_deref().map(moment).transpose()?,
        by: &admin.name,
    };
    let outcome = requests::make(&state.core.placement, &wish, dry_run).await?;
    let (made, preview) = outcome.map_err(|refusal| refused(&refusal))?;
    let item = match made {
        Some(id) => one(state, kind, id).await?,
        None => None,
    };
    let status = if dry_run { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(ConstraintAnswer { item, preview: shown(state, preview).await? })))
}

async fn remove(
    state: &ApiState,
    admin: &Admin,
    kind: Kind,
    id: i64,
    dry_run: bool,
) -> Result<Json<ConstraintAnswer>, Problem> {
    let preview = requests::remove(&state.core.placement, kind, id, &admin.name, dry_run).await?;
    let word = kind.as_str();
    let preview = preview.ok_or_else(|| {
        Problem::not_found(format!("There is no such {word}, or it is over already."))
    })?;
    Ok(Json(ConstraintAnswer {
        item: one(state, kind, id).await?,
        preview: shown(state, preview).await?,
    }))
}

async fn one(state: &ApiState, kind: Kind, id: i64) -> Result<Option<Constraints>, Problem> {
    let found = rules::list(&state.core.store, kind, true, id.saturating_add(1), 1).await?;
    Ok(found.into_iter().find(|rule| rule.id == id).map(|rule| of_rule(kind, rule)))
}

/// What is meant, in words that later generations of the hierarchy understand.
fn scope(state: &ApiState, kind: Kind, scope: &Scope) -> Result<hierarchy::Scope, Problem> {
    match scope {
        Scope::Range(text) => Ok(hierarchy::Scope::Range(range(text)?)),
        Scope::Company { registry, handle } => {
            Ok(hierarchy::Scope::Company { registry: *registry, handle: handle.clone() })
        }
        Scope::CompanyOf(text) => company_of(state, &range(text)?),
        Scope::Country(_) if kind == Kind::Pin => Err(of_field(
            "scope",
            "A country is too large to be pinned; pin a range or a company.".to_owned(),
        )),
        Scope::Country(code) => {
            let country = code.parse();
            country
                .map(hierarchy::Scope::Country)
                .map_err(|error| of_field("scope", format!("{error}.")))
        }
    }
}

fn range(text: &str) -> Result<Range, Problem> {
    text.trim().parse().map_err(|error| of_field("scope", format!("{error}.")))
}

fn company_of(state: &ApiState, range: &Range) -> Result<hierarchy::Scope, Problem> {
    let delegated = state.core.delegated().ok_or_else(no_hierarchy)?;
    let hierarchy = delegated.hierarchy();
    let holder = hierarchy.find(range).and_then(|id| hierarchy.subnet(id).company());
    let company = holder.and_then(|id| hierarchy.company(id));
    let company = company
        .ok_or_else(|| of_field("scope", format!("The hierarchy names no company for {range}.")))?;
    Ok(hierarchy::Scope::Company { registry: company.registry, handle: company.handle.to_owned() })
}

fn moment(text: &str) -> Result<UnixMillis, Problem> {
    let read: Result<jiff::Timestamp, _> = text.parse();
    read.map(|time| UnixMillis(time.as_millisecond())).map_err(|_| {
        of_field(
            "expires_at",
            "Give a moment as RFC 3339 has it, such as 2030-01-31T12:00:00Z.".to_owned(),
        )
    })
}

fn of_rule(kind: Kind, rule: Rule) -> Constraints {
    let (ended_at, ended_by) = rule.ended.unzip();
    Constraints {
        id: match kind {
            Kind::Pin => PinId::new(rule.id).to_string(),
            Kind::Exclusion => ExclusionId::new(rule.id).to_string(),
        },
        scope_text: rule.scope.to_string(),
        scope: match rule.scope {
            hierarchy::Scope::Range(range) => Scope::Range(range.to_string()),
            hierarchy::Scope::Company { registry, handle } => Scope::Company { registry, handle },
            hierarchy::Scope::Country(country) => Scope::Country(country.as_str().to_owned()),
        },
        agent: AgentRef { id: rule.agent, name: rule.agent_name },
        reason: rule.reason,
        created_by: rule.created_by,
        created_at: rule.created_at.into(),
        expires_at: rule.expires_at.map(Into::into),
        ended_at: ended_at.map(Into::into),
        ended_by,
    }
}
