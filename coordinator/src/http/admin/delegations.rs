//! Delegations: list with a filter, and details.

use std::cmp::Reverse;

use axum::extract::State;
use delegation::holder_search::held_by_name;
use hierarchy::Range;
use model::{AgentId, DelegationId, Reason};
use store::bounded_count::BoundedCount;
use store::delegations::{DelegationCursor, DelegationFilter, DelegationSummary};
use store::{Store, StoreError};

use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::delegations::{
    Delegation, DelegationList, DelegationListCounts, DelegationQuery, DelegationReasonCount,
};
use crate::http::admin::hosts::authority;
use crate::http::admin::subnet_lookup::SubnetInfo;
use crate::http::authentication::Viewer;
use crate::http::extract::{Json, Path, Query};
use crate::http::paging::{PageQuery, cut, encode_pair};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// Subnets of companies and of a country that a text may name.
pub(super) const MATCHING_MAX: usize = 5_000;
/// Longest text of the filter, in characters.
const TEXT_MAX: usize = 200;

/// Delegations that apply, in the order asked for.
#[utoipa::path(get, path = "/api/v1/delegations", operation_id = "list_delegations",
    tag = "delegations", params(DelegationQuery, PageQuery), security(("session" = [])),
    responses((status = 200, body = DelegationList)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(query): Query<DelegationQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Json<DelegationList>, Problem> {
    let cursor = |(rtt_us, id)| DelegationCursor { rtt_us, id: DelegationId::new(id) };
    let after = page.after()?.map(cursor);
    let limit = page.limit()?;
    let delegated = state.core.delegated();
    let mut filter = DelegationFilter { agent: query.agent, ..DelegationFilter::default() };
    filter.reason = query.reason;
    if let Some(text) = query.q.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        filter_by_text(text, delegated.as_deref(), &mut filter)?;
    }
    let sort = query.sort.unwrap_or_default();
    let store = &state.core.store;
    let mut found = store::delegations::list(store, &filter, sort, after, limit + 1).await?;
    let last = cut(&mut found, limit).map(|delegation| delegation.cursor(sort));
    let next_cursor = last.map(|place| encode_pair(place.rtt_us, place.id.get()));
    let items = found.iter().map(|found| to_dto(delegated.as_deref(), found)).collect();
    let counts = match query.counts {
        Some(true) => counts(store, &filter).await?,
        _ => None,
    };
    Ok(Json(DelegationList { items, next_cursor, counts }))
}

/// Counts by reason: kept for all delegations, read from an index for those of an agent. A text
/// can be compared with every delegation only, so that nothing is counted then.
async fn counts(
    store: &Store,
    filter: &DelegationFilter,
) -> Result<Option<DelegationListCounts>, StoreError> {
    if filter.text.is_some() || filter.touching.is_some() {
        return Ok(None);
    }
    let mut reasons: Vec<(Reason, BoundedCount)> = if let Some(agent) = filter.agent {
        store::delegations::count_of_agent(store, agent).await?
    } else {
        let kept = store::overview::delegations_by_reason(store).await?;
        kept.into_iter().map(|(reason, count)| (reason, BoundedCount::exact(count))).collect()
    };
    reasons.sort_by_key(|(reason, counted)| (Reverse(counted.count), *reason));
    let chosen =
        reasons.iter().filter(|(reason, _)| filter.reason.is_none_or(|only| only == *reason));
    let total = BoundedCount::sum(chosen.map(|(_, counted)| *counted)).into();
    let reasons = reasons
        .into_iter()
        .map(|(reason, counted)| DelegationReasonCount { reason, delegations: counted.into() });
    Ok(Some(DelegationListCounts { total, reasons: reasons.collect() }))
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
        let found = delegated.map(|delegated| matching(delegated, text)).unwrap_or_default();
        filter.subnets = found.into_iter().map(|(subnet, _)| subnet).collect();
        filter.text = Some(authority(text));
    }
    Ok(())
}

/// Delegated subnets whose country is `text`, or whose company's name contains it, with their
/// agents: not many more than [`MATCHING_MAX`].
pub(super) fn matching(delegated: &DelegatedHierarchy, text: &str) -> Vec<(Range, AgentId)> {
    let hierarchy = delegated.hierarchy();
    let found = held_by_name(hierarchy, &delegated.delegation_table(), text, MATCHING_MAX);
    found.into_iter().map(|(id, agent)| (hierarchy.subnet(id).range(), agent)).collect()
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
        fencing_number: found.fencing_number,
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
