//! Hosts: a list in several orders, and one host with its last fetches.

use axum::extract::State;
use hierarchy::Range;
use model::{AgentId, HostId};
use store::bounded_count::BoundedCount;
use store::fetches::{self, HostErrors};
use store::host_list::{self, HostCursor, HostFilter, HostSummary};
use store::{agents, delegations};

use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::hosts::{
    Host, HostDetails, HostErrorCount, HostList, HostListCounts, HostQuery, HostStateCount,
};
use crate::http::admin::subnet_lookup::{SubnetInfo, range_parameter};
use crate::http::authentication::Viewer;
use crate::http::extract::{Json, Path, Query};
use crate::http::paging::{PageQuery, cut, encode_pair};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// Longest text of the filter: the longest host name.
const TEXT_MAX: usize = 253;

/// Hosts in the order asked for.
#[utoipa::path(get, path = "/api/v1/hosts", operation_id = "list_hosts", tag = "hosts",
    params(HostQuery, PageQuery), security(("session" = [])),
    responses((status = 200, body = HostList)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(query): Query<HostQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Json<HostList>, Problem> {
    let limit = page.limit()?;
    let after = page.after()?.map(|(value, host)| HostCursor { value, host: HostId::new(host) });
    let sort = query.sort.unwrap_or_default();
    let filter = filter(&query)?;
    let with_counts = query.counts == Some(true);
    let (found, counts) = tokio::join!(
        host_list::list(&state.core.store, &filter, sort, after, limit + 1),
        counts(&state, &filter, with_counts),
    );
    let mut found = found?;
    let last = cut(&mut found, limit).map(|host| host.cursor(sort));
    let next_cursor = last.map(|place| encode_pair(place.value, place.host.get()));
    let delegated = state.core.delegated();
    let items = found.into_iter().map(|host| to_dto(delegated.as_deref(), host)).collect();
    Ok(Json(HostList { items, next_cursor, counts: counts? }))
}

/// The counts of a list, where they are wanted.
async fn counts(
    state: &ApiState,
    filter: &HostFilter,
    wanted: bool,
) -> Result<Option<HostListCounts>, Problem> {
    if !wanted {
        return Ok(None);
    }
    let states = host_list::count_by_state(&state.core.store, filter).await?;
    let chosen = states.iter().filter(|(state, _)| filter.state.is_none_or(|only| only == *state));
    let total = BoundedCount::sum(chosen.map(|(_, hosts)| *hosts));
    let states =
        states.into_iter().map(|(state, hosts)| HostStateCount { state, hosts: hosts.into() });
    Ok(Some(HostListCounts { total: total.into(), states: states.collect() }))
}

fn filter(query: &HostQuery) -> Result<HostFilter, Problem> {
    let mut filter = HostFilter { state: query.state, agent: query.agent, ..HostFilter::default() };
    filter.is_seeded = query.seeded == Some(true);
    let subnet = query.subnet.as_deref();
    filter.subnet = subnet.map(|subnet| range_parameter("subnet", subnet)).transpose()?;
    let Some(text) = query.q.as_deref().map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(filter);
    };
    if text.chars().count() > TEXT_MAX {
        return Err(Problem::bad_parameter("q", format!("give at most {TEXT_MAX} characters")));
    }
    match text.parse::<Range>() {
        Ok(range) => filter.addresses = Some(range),
        Err(_) => filter.name = Some(authority(&text.to_lowercase())),
    }
    Ok(filter)
}

/// The text without the scheme with which pages show a host.
pub(super) fn authority(text: &str) -> String {
    let schemes = ["https://", "http://"];
    let without_scheme = schemes.iter().find_map(|scheme| {
        let (first, rest) = text.split_at_checked(scheme.len())?;
        first.eq_ignore_ascii_case(scheme).then_some(rest)
    });
    let name = without_scheme.unwrap_or(text).trim_end_matches('/');
    if name.is_empty() { text.to_owned() } else { name.to_owned() }
}

/// One host with its last fetches and errors.
#[utoipa::path(get, path = "/api/v1/hosts/{id}", operation_id = "get_host", tag = "hosts",
    params(("id" = String, Path, example = "hst_7")), security(("session" = [])),
    responses((status = 200, body = HostDetails)))]
pub async fn get(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Path(id): Path<HostId>,
) -> Result<Json<HostDetails>, Problem> {
    let store = &state.core.store;
    let found = host_list::find(store, id).await?;
    let found = found.ok_or_else(|| Problem::not_found(format!("There is no host {id}.")))?;
    let delegation = match &found.subnet {
        Some(subnet) => delegations::of_subnet(store, subnet).await?,
        None => None,
    };
    let errors = fetches::errors_of_host(store, id, state.core.now()).await?;
    let found_by = match found.found_by {
        Some(agent) => Some(agent_ref(&state, agent).await?),
        None => None,
    };
    let fetched = found.fetched.as_ref();
    let recent = fetched.map(|fetched| fetched.recent.clone()).unwrap_or_default();
    let answered_at = fetched.and_then(|fetched| fetched.answered_at);
    let unanswered_since = fetched.and_then(|fetched| fetched.unanswered_since);
    let is_silent = fetched.is_some_and(|fetched| fetched.is_silent);
    Ok(Json(HostDetails {
        found_by,
        delegation,
        recent: recent.into_iter().map(Into::into).collect(),
        answered_at: answered_at.map(Into::into),
        unanswered_since: unanswered_since.map(Into::into),
        is_silent,
        errors: errors.into_iter().map(error_count).collect(),
        host: to_dto(state.core.delegated().as_deref(), found),
    }))
}

/// An agent with its name.
pub(super) async fn agent_ref(state: &ApiState, agent: AgentId) -> Result<AgentRef, Problem> {
    let names = agents::names(&state.core.store, &[agent]).await?;
    Ok(AgentRef::named(agent, &names))
}

/// Errors as the API shows them.
pub(super) fn error_count(errors: HostErrors) -> HostErrorCount {
    let (id, name) = errors.agent;
    HostErrorCount {
        host: errors.host,
        name: errors.name,
        days_ago: errors.days_ago,
        kind: errors.kind,
        errors: errors.errors,
        agent: AgentRef { id, name },
        url: errors.url,
        detail: errors.detail,
        at: errors.at.into(),
    }
}

fn to_dto(delegated: Option<&DelegatedHierarchy>, host: HostSummary) -> Host {
    let info = match &host.subnet {
        Some(subnet) => SubnetInfo::of_range(delegated, subnet),
        None => SubnetInfo::default(),
    };
    let fetched = host.fetched.as_ref();
    Host {
        id: host.id,
        name: format!("{}://{}", host.scheme, host.authority),
        state: host.state,
        address: host.address.map(|address| address.to_string()),
        subnet: host.subnet.map(|subnet| subnet.to_string()),
        country: info.country,
        pages: host.pages,
        fetches: host.fetches,
        errors: fetched.map_or(0, |fetched| fetched.errors),
        disallowed: fetched.map_or(0, |fetched| fetched.disallowed),
        bytes_fetched: host.wire_bytes,
        mean_ms: fetched.map(|fetched| fetched.mean_ms),
        fetched_at: fetched.and_then(|fetched| Some(fetched.recent.first()?.at.into())),
        agent: host.agent.map(|(id, name)| AgentRef { id, name }),
        reason: host.reason,
        found_at: host.found_at.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_by_the_name_that_pages_show() {
        for (text, expected) in [
            ("https://example.org", "example.org"),
            ("HTTP://example.org:8080/", "example.org:8080"),
            ("example.org", "example.org"),
            ("example.org/", "example.org"),
            ("https://", "https://"),
            ("/", "/"),
        ] {
            assert_eq!(authority(text), expected, "{text}");
        }
    }
}
