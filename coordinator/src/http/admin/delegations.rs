//! Who crawls what.

use axum::extract::State;
use hierarchy::Range;
use model::DelegationId;
use store::lists::{self, Filter};

use crate::http::admin::dto::{AgentRef, Delegation, Wanted};
use crate::http::admin::subnet_lookup::Ground;
use crate::http::authentication::Viewer;
use crate::http::extract::{Json, Path, Query};
use crate::http::paging::{Page, Part};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// Longest text to look for, in characters.
const TEXT_MAX: usize = 200;

/// All delegations that stand, the newest first.
#[utoipa::path(get, path = "/api/v1/delegations", operation_id = "list_delegations", tag = "delegations",
    params(Wanted), security(("session" = [])), responses((status = 200, body = Page<Delegation>)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Page<Delegation>>, Problem> {
    let part = Part { limit: wanted.limit, cursor: wanted.cursor };
    let (before, limit) = (part.before()?, part.limit()?);
    let delegated = state.core.delegated();
    let mut filter = Filter { agent: wanted.agent, ..Filter::default() };
    filter.reason = wanted.reason;
    if let Some(text) = wanted.q.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        look_for(text, delegated.as_deref(), &mut filter)?;
    }
    let found = lists::delegations(&state.core.store, &filter, before, limit + 1).await?;
    let page = Page::cut(found, limit, |delegation| delegation.id.get());
    Ok(Json(page.map(|delegation| shown(delegated.as_deref(), &delegation))))
}

/// One delegation, also one that ended.
#[utoipa::path(get, path = "/api/v1/delegations/{id}", operation_id = "get_delegation", tag = "delegations",
    params(("id" = String, Path, example = "dlg_7")), security(("session" = [])),
    responses((status = 200, body = Delegation)))]
pub async fn one(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Path(id): Path<DelegationId>,
) -> Result<Json<Delegation>, Problem> {
    let found = read(&state, id).await?;
    Ok(Json(shown(state.core.delegated().as_deref(), &found)))
}

/// The delegation of this id or 404.
pub(super) async fn read(state: &ApiState, id: DelegationId) -> Result<lists::Delegation, Problem> {
    let found = lists::delegation(&state.core.store, id).await?;
    found.ok_or_else(|| Problem::not_found(format!("There is no delegation {id}.")))
}

fn look_for(
    text: &str,
    delegated: Option<&DelegatedHierarchy>,
    filter: &mut Filter,
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
        filter.subnets = delegated.map(|delegated| fitting(delegated, text)).unwrap_or_default();
        filter.text = Some(text.to_owned());
    }
    Ok(())
}

/// Delegated subnets whose country is, or whose company's name holds, `text`.
fn fitting(delegated: &DelegatedHierarchy, text: &str) -> Vec<Range> {
    let hierarchy = delegated.hierarchy();
    let wanted = text.to_lowercase();
    let fits = |company: hierarchy::Company<'_>| {
        company.handle.to_lowercase().contains(&wanted)
            || company.name.is_some_and(|name| name.to_lowercase().contains(&wanted))
    };
    let held: Vec<hierarchy::SubnetId> =
        delegated.delegation_table().iter().map(|(id, _)| id).collect();
    let subnets = held.into_iter().map(|id| hierarchy.subnet(id));
    subnets
        .filter(|subnet| {
            subnet.country().is_some_and(|country| country.as_str().eq_ignore_ascii_case(text))
                || subnet.company().and_then(|id| hierarchy.company(id)).is_some_and(fits)
        })
        .map(|subnet| subnet.range())
        .collect()
}

/// A delegation as the API shows it.
pub(super) fn shown(
    delegated: Option<&DelegatedHierarchy>,
    found: &lists::Delegation,
) -> Delegation {
    let Ground { registry, country, company } = Ground::of_range(delegated, &found.subnet);
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

/// Microseconds as milliseconds.
pub(super) fn ms(us: u32) -> f64 {
    f64::from(us) / 1_000.0
}
