//! Packages at the fake coordinator: it verifies each, and can break uploads in the middle.

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, header},
    response::{IntoResponse as _, Response},
};
use protocol::{package, page::Entry, resumption::UPLOAD_OFFSET};
use serde_json::json;

use super::{AGENT, Answer, CoordinatorState, Refusal, Shared, answer_of_a_proxy, problem};

/// Epoch and number of a package.
type Name = (u64, u64);

pub(super) async fn take(
    State(inner): Shared,
    headers: HeaderMap,
    Path(name): Path<Name>,
    bytes: Bytes,
) -> Answer {
    inner.authorise(&headers)?;
    let mut state = inner.state();
    if let Some(status) = state.proxy_refuses_packages {
        state.refused_by_proxy += 1;
        return Err(answer_of_a_proxy(status, header::CONTENT_TYPE, "text/html".into()));
    }
    state.whole_uploads += 1;
    if state.cuts_packages {
        state.partial_packages.insert(name, bytes.slice(..bytes.len() / 2));
        return Err(problem(503, "it broke in the middle"));
    }
    store(&mut state, name, &bytes)
}

/// Bytes that are here of a package whose upload broke.
pub(super) async fn length(
    State(inner): Shared,
    headers: HeaderMap,
    Path(name): Path<Name>,
) -> Answer {
    inner.authorise(&headers)?;
    let length = inner.state().partial_packages.get(&name).map_or(0, Bytes::len);
    Ok([(UPLOAD_OFFSET, length.to_string())].into_response())
}

/// The bytes of a package that are missing.
pub(super) async fn take_rest(
    State(inner): Shared,
    headers: HeaderMap,
    Path(name): Path<Name>,
    bytes: Bytes,
) -> Answer {
    inner.authorise(&headers)?;
    let mut state = inner.state();
    if state.cuts_packages {
        return Err(problem(503, "it broke in the middle"));
    }
    let before = state.partial_packages.remove(&name);
    let before = before.ok_or_else(|| problem(412, "nothing is here"))?;
    assert_eq!(headers[UPLOAD_OFFSET], before.len().to_string());
    store(&mut state, name, &[before, bytes].concat().into())
}

fn store(
    state: &mut CoordinatorState,
    (epoch, seq): Name,
    bytes: &Bytes,
) -> Result<Response, Refusal> {
    if let Some(status) = state.refuse_packages {
        return Err(problem(status, "not this package"));
    }
    let key = state.key.ok_or_else(|| problem(401, "no such agent"))?;
    let opened = package::open(bytes, &key).map_err(|error| problem(422, &error.to_string()))?;
    let name = opened.header().name;
    assert_eq!((name.agent, name.epoch, name.seq), (AGENT, epoch, seq));
    if let Some(known) = state.packages.get(&(epoch, seq)) {
        assert_eq!(known, bytes, "one name for two packages");
        state.duplicates += 1;
        return Ok(Json(json!({ "status": "duplicate" })).into_response());
    }
    let entries: Result<Vec<Entry>, _> = opened.entries().and_then(Iterator::collect);
    state.entries.extend(entries.map_err(|error| problem(422, &error.to_string()))?);
    state.packages.insert((epoch, seq), bytes.clone());
    Ok(Json(json!({ "status": "stored" })).into_response())
}
