//! Bundles of hosts at the fake coordinator.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::HeaderMap,
    response::IntoResponse as _,
};
use serde_json::json;

use super::{Answer, Inner, Shared, problem};

pub(super) async fn take(
    State(inner): Shared,
    headers: HeaderMap,
    Path(order): Path<u64>,
    bytes: Bytes,
) -> Answer {
    inner.authorise(&headers)?;
    let mut state = inner.state();
    if let Some(status) = state.refuse_bundle_once.take() {
        return Err(problem(status, "not this bundle"));
    }
    assert!(!state.confirmed.contains(&order), "a bundle is sent before its order is confirmed");
    state.bundles.insert(order, bytes);
    Ok(Json(json!({ "status": "stored" })).into_response())
}

pub(super) async fn give(
    State(inner): Shared,
    headers: HeaderMap,
    Path(order): Path<u64>,
) -> Answer {
    inner.authorise(&headers)?;
    let _reading = Reading::begin(&inner);
    loop {
        let changed = inner.changed.notified();
        if !inner.state().holds_bundles {
            break;
        }
        changed.await;
    }
    let bundle = inner.state().bundles.get(&order).cloned();
    Ok(bundle.ok_or_else(|| problem(404, "no such bundle"))?.into_response())
}

/// Counts an agent that is reading a bundle, until it has it or breaks off.
struct Reading(Arc<Inner>);

impl Reading {
    fn begin(inner: &Arc<Inner>) -> Self {
        inner.state().bundles_being_read += 1;
        Self(Arc::clone(inner))
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.state().bundles_being_read -= 1;
    }
}
