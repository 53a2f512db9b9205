//! Errors of fetches: by cause, agent and host on one of the last days.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use axum::extract::State;
use model::AgentId;
use store::agents;
use store::fetches::{self, ERROR_DAYS, ErrorFilter};

use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::hosts::{AgentErrorCount, ErrorKindCount, ErrorQuery, ErrorsOfDay};
use crate::http::admin::hosts::error_count;
use crate::http::authentication::Viewer;
use crate::http::extract::{Json, Query};
use crate::http::paging::checked_limit;
use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// Hosts in a response unless the request names a limit.
const LIMIT_DEFAULT: i64 = 50;

/// Errors of one day by cause, agent and host.
#[utoipa::path(get, path = "/api/v1/errors", operation_id = "list_errors", tag = "hosts",
    params(ErrorQuery), security(("session" = [])),
    responses((status = 200, body = ErrorsOfDay)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(query): Query<ErrorQuery>,
) -> Result<Json<ErrorsOfDay>, Problem> {
    let limit = checked_limit(query.limit, LIMIT_DEFAULT)?;
    let ErrorQuery { kind, agent, .. } = query;
    let days_ago = query.days_ago.unwrap_or(0);
    if !(0..ERROR_DAYS).contains(&days_ago) {
        let rule = format!("{days_ago} is not within 0 and {}", ERROR_DAYS - 1);
        return Err(Problem::bad_parameter("days_ago", rule));
    }
    let now = state.core.now();
    let store = &state.core.store;
    let all = fetches::of_day(store, days_ago, now).await?;
    let filter = ErrorFilter { days_ago, kind, agent };
    let hosts = fetches::most_errors(store, &filter, limit, now).await?;
    let of_agent = all.iter().filter(|count| agent.is_none_or(|agent| agent == count.agent));
    let by_kind = sums(of_agent.map(|count| (count.kind, count.errors)));
    let of_kind = all.iter().filter(|count| kind.is_none_or(|kind| kind == count.kind));
    let by_agent = sums(of_kind.map(|count| (count.agent, count.errors)));
    let ids: Vec<AgentId> = by_agent.iter().map(|(agent, _)| *agent).collect();
    let names = agents::names(store, &ids).await?;
    let with_name = |(id, errors): (AgentId, u64)| AgentErrorCount {
        agent: AgentRef::named(id, &names),
        errors,
    };
    Ok(Json(ErrorsOfDay {
        days_ago,
        kinds: by_kind.into_iter().map(|(kind, errors)| ErrorKindCount { kind, errors }).collect(),
        agents: by_agent.into_iter().map(with_name).collect(),
        hosts: hosts.into_iter().map(error_count).collect(),
    }))
}

/// Sums by a key, the largest first.
fn sums<Key: Ord>(counts: impl Iterator<Item = (Key, u64)>) -> Vec<(Key, u64)> {
    let mut by_key: BTreeMap<Key, u64> = BTreeMap::new();
    for (key, errors) in counts {
        let sum = by_key.entry(key).or_default();
        *sum = sum.saturating_add(errors);
    }
    let mut sorted: Vec<(Key, u64)> = by_key.into_iter().collect();
    sorted.sort_by_key(|(_, errors)| Reverse(*errors));
    sorted
}
