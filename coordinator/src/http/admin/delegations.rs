//! Delegations: list with a filter, and details.

use axum::extract::State;
use hierarchy::Range;
use model::DelegationId;
use store::delegations::{DelegationFilter, DelegationSummary};

use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::delegations::{Delegation, DelegationQuery};
use crate::http::admin::subnet_lookup::SubnetInfo;
use crate::http::authentication::Viewer;
use crate::http::extract::{Json, Path, Query};
use crate::http::paging::{Page, PageQuery};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// Longest text of the filter, in characters.
const TEXT_MAX: usize = 200;

/// All delegations that apply, the newest first.
#[utoipa::path(get, path = "/api/v1/delegations", operation_id = "list_delegations",
    tag = "delegations", params(DelegationQuery, PageQuery), security(("session" = [])),
    responses((status = 200, body = Page<Delegation>)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(query): Query<DelegationQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<Delegation>>, Problem> {
    let before = page.before()?;
    let limit = page.limit()?;
    let delegated = state.core.delegated();
    let mut filter = DelegationFilter { agent: query.agent, ..DelegationFilter::default() };
    filter.reason = query.reason;
    if let Some(text) = query.q.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        filter_by_text(text, delegated.as_deref(), &mut filter)?;
    }
    let found = store::delegations::list(&state.core.store, &filter, before, limit + 1).await?;
    let page = Page::from_rows(found, limit, |delegation| delegation.id.get());
    Ok(Json(page.map(|delegation| to_dto(delegated.as_deref(), &delegation))))
}

/// One delegation, also one that has ended.
#[utoipa::path(get, path = "/api/v1/delegations/{id}", operation_id = "get_delegation",
    tag = "delegations", params(("id" = String, Path, example = "dlg_7")),
    security(("session" = [])), responses((status = 200, body = Delegation)))]
pub async fn get(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Path(id): Path<DelegationId>,
) -> Result<Json<Delegation>, Problem> {
    let found = read(&state, id).await?;
    Ok(Json(to_dto(state.core.delegated().as_deref(), &found)))
}

/// The delegation of this id, or 404.
pub(super) async fn read(state: &ApiState, id: DelegationId) -> Result<DelegationSummary, Problem> {
    let found = store::delegations::find(&state.core.store, id).await?;
    found.ok_or_else(|| Problem::not_found(format!("There is no delegation {id}.")))
}

fn filter_by_text(
    text: &str,
    delegated: Option<&DelegatedHierarchy>,
    filter: &mut DelegationFilter,
) -> Result<(), Problem> {
    if text.chars().count() > TEXT_MAX || text.contains('\0') {
        return Err(Problem::bad_parameter(
            "q",
            format!("give at most {TEXT_MAX} characters, none of them NUL"),
        ));
    }
    if let Ok(range) = text.parse::<Range>() {
        filter.touching = Some(range);
    } else {
        // The database knows names of hosts and agents; countries and companies are in memory only.
        filter.subnets = delegated.map(|delegated| matching(delegated, text)).unwrap_or_default();
        filter.text = Some(text.to_owned());
    }
    Ok(())
}

/// Delegated subnets whose country is `text`, or whose company's name contains it.
fn matching(delegated: &DelegatedHierarchy, text: &str) -> Vec<Range> {
    let hierarchy = delegated.hierarchy();
    let lowercase = text.to_lowercase();
    let company_matches = |company: hierarchy::Company<'_>| {
        company.handle.to_lowercase().contains(&lowercase)
            || company.name.is_some_and(|name| name.to_lowercase().contains(&lowercase))
    };
    // The ids are copied first, so that the table is not locked while names are compared.
    let held: Vec<hierarchy::SubnetId> =
        delegated.delegation_table().iter().map(|(id, _)| id).collect();
    let subnets = held.into_iter().map(|id| hierarchy.subnet(id));
    subnets
        .filter(|subnet| {
            subnet.country().is_some_and(|country| country.as_str().eq_ignore_ascii_case(text))
                || subnet
                    .company()
                    .and_then(|id| hierarchy.company(id))
                    .is_some_and(company_matches)
        })
        .map(|subnet| subnet.range())
        .collect()
}

/// A delegation as the API shows it.
pub(super) fn to_dto(
    delegated: Option<&DelegatedHierarchy>,
    found: &DelegationSummary,
) -> Delegation {
    let SubnetInfo { registry, country, company } = SubnetInfo::of_range(delegated, &found.subnet);
    Delegation {
        id: found.id,
        subnet: found.subnet.to_string(),
        agent: AgentRef { id: found.agent, name: found.agent_name.clone() },
        company,
        country,
        registry,
        reason: found.reason,
        provisional: found.provisional,
        generation: found.generation,
        threshold_ms: found.threshold_us.map(ms),
        rtt_ms: found.rtt_us.map(ms),
        probes: found.probes,
        decided_at: found.decided_at.into(),
        ended_at: found.ended_at.map(Into::into),
        hosts: found.hosts,
    }
}

/// Converts microseconds to milliseconds.
pub(super) fn ms(us: u32) -> f64 {
    f64::from(us) / 1_000.0
}
