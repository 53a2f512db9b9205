//! Constraints by admins: pins, exclusions and overrides, each with a preview.

use axum::extract::State;
use axum::http::StatusCode;
use hierarchy::Range;
use model::{DelegationId, ExclusionId, PinId, UnixMillis};
use store::constraints::{self as stored, Kind, NewConstraint};

use crate::http::admin::constraint_preview::{field_problem, preview, refusal_problem};
use crate::http::admin::delegations;
use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::constraints::{
    Constraint, ConstraintQuery, ConstraintRequest, ConstraintResponse, DryRun, OverrideRequest,
    OverrideResponse, Scope,
};
use crate::http::admin::subnet_lookup::no_hierarchy;
use crate::http::authentication::{Admin, Viewer};
use crate::http::extract::{Json, Path, Query};
use crate::http::paging::{Page, PageQuery};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::placement::constraints::override_delegation::{Override, override_once};
use crate::placement::constraints::requests;

/// Pins that apply, the newest first.
#[utoipa::path(get, path = "/api/v1/pins", operation_id = "list_pins", tag = "constraints",
    params(ConstraintQuery, PageQuery), security(("session" = [])),
    responses((status = 200, body = Page<Constraint>)))]
pub async fn list_pins(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(query): Query<ConstraintQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<Constraint>>, Problem> {
    list(&state, Kind::Pin, query, &page).await
}

/// Pin a range or a company's subnets to an agent. The agent crawls them until the pin expires or
/// is removed, whatever is measured.
#[utoipa::path(post, path = "/api/v1/pins", operation_id = "create_pin", tag = "constraints",
    params(DryRun), request_body = ConstraintRequest, security(("session" = [])),
    responses((status = 201, body = ConstraintResponse),
        (status = 200, body = ConstraintResponse, description = "A preview")))]
pub async fn create_pin(
    admin: Admin,
    State(state): State<ApiState>,
    Query(dry_run): Query<DryRun>,
    Json(request): Json<ConstraintRequest>,
) -> Result<(StatusCode, Json<ConstraintResponse>), Problem> {
    create(&state, &admin, Kind::Pin, &request, dry_run.is_set()).await
}

/// Remove a pin; the search of each of its subnets is reopened.
#[utoipa::path(delete, path = "/api/v1/pins/{id}", operation_id = "remove_pin",
    tag = "constraints", params(("id" = String, Path, example = "pin_3"), DryRun),
    security(("session" = [])), responses((status = 200, body = ConstraintResponse)))]
pub async fn remove_pin(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<PinId>,
    Query(dry_run): Query<DryRun>,
) -> Result<Json<ConstraintResponse>, Problem> {
    remove(&state, &admin, Kind::Pin, id.get(), dry_run.is_set()).await
}

/// Exclusions that apply, the newest first.
#[utoipa::path(get, path = "/api/v1/exclusions", operation_id = "list_exclusions",
    tag = "constraints", params(ConstraintQuery, PageQuery), security(("session" = [])),
    responses((status = 200, body = Page<Constraint>)))]
pub async fn list_exclusions(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(query): Query<ConstraintQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<Constraint>>, Problem> {
    list(&state, Kind::Exclusion, query, &page).await
}

/// Exclude an agent from a range, a company or a country. Searches there neither ask nor choose it.
#[utoipa::path(post, path = "/api/v1/exclusions", operation_id = "create_exclusion",
    tag = "constraints", params(DryRun), request_body = ConstraintRequest,
    security(("session" = [])),
    responses((status = 201, body = ConstraintResponse),
        (status = 200, body = ConstraintResponse, description = "A preview")))]
pub async fn create_exclusion(
    admin: Admin,
    State(state): State<ApiState>,
    Query(dry_run): Query<DryRun>,
    Json(request): Json<ConstraintRequest>,
) -> Result<(StatusCode, Json<ConstraintResponse>), Problem> {
    create(&state, &admin, Kind::Exclusion, &request, dry_run.is_set()).await
}

/// Remove an exclusion; searches may ask the agent again.
#[utoipa::path(delete, path = "/api/v1/exclusions/{id}", operation_id = "remove_exclusion",
    tag = "constraints", params(("id" = String, Path, example = "exc_4"), DryRun),
    security(("session" = [])), responses((status = 200, body = ConstraintResponse)))]
pub async fn remove_exclusion(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<ExclusionId>,
    Query(dry_run): Query<DryRun>,
) -> Result<Json<ConstraintResponse>, Problem> {
    remove(&state, &admin, Kind::Exclusion, id.get(), dry_run.is_set()).await
}

/// Reassign a delegated subnet now, once. Later searches and balance may move it again.
#[utoipa::path(post, path = "/api/v1/delegations/{id}/override",
    operation_id = "override_delegation", tag = "constraints",
    params(("id" = String, Path, example = "dlg_7"), DryRun), request_body = OverrideRequest,
    security(("session" = [])), responses((status = 200, body = OverrideResponse)))]
pub async fn override_delegation(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<DelegationId>,
    Query(dry_run): Query<DryRun>,
    Json(request): Json<OverrideRequest>,
) -> Result<Json<OverrideResponse>, Problem> {
    let found = delegations::read(&state, id).await?;
    let request = Override {
        delegation: id,
        subnet: found.subnet,
        agent: request.agent,
        reason: request.reason.trim(),
        by: &admin.name,
    };
    let outcome = override_once(&state.core.placement, &request, dry_run.is_set()).await?;
    let (made, reassigned) = outcome.map_err(|refusal| refusal_problem(&refusal))?;
    let delegation = match made {
        Some(made) => {
            let found = delegations::read(&state, made).await?;
            Some(delegations::to_dto(state.core.delegated().as_deref(), &found))
        }
        None => None,
    };
    Ok(Json(OverrideResponse { delegation, preview: preview(&state, reassigned).await? }))
}

async fn list(
    state: &ApiState,
    kind: Kind,
    query: ConstraintQuery,
    page: &PageQuery,
) -> Result<Json<Page<Constraint>>, Problem> {
    let before = page.before()?;
    let limit = page.limit()?;
    let ended = query.ended == Some(true);
    let found = stored::list(&state.core.store, kind, ended, before, limit + 1).await?;
    Ok(Json(Page::from_rows(found, limit, |rule| rule.id).map(|rule| to_dto(kind, rule))))
}

async fn create(
    state: &ApiState,
    admin: &Admin,
    kind: Kind,
    request: &ConstraintRequest,
    dry_run: bool,
) -> Result<(StatusCode, Json<ConstraintResponse>), Problem> {
    let request = NewConstraint {
        kind,
        scope: &scope(state, kind, &request.scope)?,
        agent: request.agent,
        reason: request.reason.trim(),
        expires_at: request.expires_at.as_deref().map(parse_time).transpose()?,
        by: &admin.name,
    };
    let outcome = requests::create(&state.core.placement, &request, dry_run).await?;
    let (made, reassigned) = outcome.map_err(|refusal| refusal_problem(&refusal))?;
    let constraint = match made {
        Some(id) => read(state, kind, id).await?,
        None => None,
    };
    let status = if dry_run { StatusCode::OK } else { StatusCode::CREATED };
    let preview = preview(state, reassigned).await?;
    Ok((status, Json(ConstraintResponse { constraint, preview })))
}

async fn remove(
    state: &ApiState,
    admin: &Admin,
    kind: Kind,
    id: i64,
    dry_run: bool,
) -> Result<Json<ConstraintResponse>, Problem> {
    let reassigned =
        requests::remove(&state.core.placement, kind, id, &admin.name, dry_run).await?;
    let kind_name = kind.as_str();
    let reassigned = reassigned.ok_or_else(|| {
        Problem::not_found(format!("There is no such {kind_name}, or it has ended already."))
    })?;
    Ok(Json(ConstraintResponse {
        constraint: read(state, kind, id).await?,
        preview: preview(state, reassigned).await?,
    }))
}

async fn read(state: &ApiState, kind: Kind, id: i64) -> Result<Option<Constraint>, Problem> {
    let found = stored::list(&state.core.store, kind, true, id.saturating_add(1), 1).await?;
    Ok(found.into_iter().find(|rule| rule.id == id).map(|rule| to_dto(kind, rule)))
}

/// The scope in terms that later generations of the hierarchy still contain: a company instead of
/// the subnet that names it.
fn scope(state: &ApiState, kind: Kind, scope: &Scope) -> Result<hierarchy::Scope, Problem> {
    match scope {
        Scope::Range(text) => Ok(hierarchy::Scope::Range(range(text)?)),
        Scope::Company { registry, handle } => {
            Ok(hierarchy::Scope::Company { registry: *registry, handle: handle.clone() })
        }
        Scope::CompanyOf(text) => company_of(state, &range(text)?),
        Scope::Country(_) if kind == Kind::Pin => Err(field_problem(
            "scope",
            "A country is too large for a pin; pin a range or a company.".to_owned(),
        )),
        Scope::Country(code) => {
            let country = code.parse();
            country
                .map(hierarchy::Scope::Country)
                .map_err(|error| field_problem("scope", format!("{error}.")))
        }
    }
}

fn range(text: &str) -> Result<Range, Problem> {
    text.trim().parse().map_err(|error| field_problem("scope", format!("{error}.")))
}

fn company_of(state: &ApiState, range: &Range) -> Result<hierarchy::Scope, Problem> {
    let delegated = state.core.delegated().ok_or_else(no_hierarchy)?;
    let hierarchy = delegated.hierarchy();
    let holder = hierarchy.find(range).and_then(|id| hierarchy.subnet(id).company());
    let company = holder.and_then(|id| hierarchy.company(id)).ok_or_else(|| {
        field_problem("scope", format!("The hierarchy names no company for {range}."))
    })?;
    Ok(hierarchy::Scope::Company { registry: company.registry, handle: company.handle.to_owned() })
}

fn parse_time(text: &str) -> Result<UnixMillis, Problem> {
    let parsed: Result<jiff::Timestamp, _> = text.parse();
    parsed.map(|time| UnixMillis(time.as_millisecond())).map_err(|_| {
        field_problem(
            "expires_at",
            "Give an RFC 3339 time, such as 2030-01-31T12:00:00Z.".to_owned(),
        )
    })
}

fn to_dto(kind: Kind, constraint: stored::Constraint) -> Constraint {
    let (ended_at, ended_by) = constraint.ended.unzip();
    Constraint {
        id: match kind {
            Kind::Pin => PinId::new(constraint.id).to_string(),
            Kind::Exclusion => ExclusionId::new(constraint.id).to_string(),
        },
        scope_text: constraint.scope.to_string(),
        scope: match constraint.scope {
            hierarchy::Scope::Range(range) => Scope::Range(range.to_string()),
            hierarchy::Scope::Company { registry, handle } => Scope::Company { registry, handle },
            hierarchy::Scope::Country(country) => Scope::Country(country.as_str().to_owned()),
        },
        agent: AgentRef { id: constraint.agent, name: constraint.agent_name },
        reason: constraint.reason,
        created_by: constraint.created_by,
        created_at: constraint.created_at.into(),
        expires_at: constraint.expires_at.map(Into::into),
        ended_at: ended_at.map(Into::into),
        ended_by,
    }
}
