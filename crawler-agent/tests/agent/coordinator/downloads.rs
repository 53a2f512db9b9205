//! Downloads at the fake coordinator, which can stop in the middle.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    body::{Body, Bytes},
    extract::{Path, State},
    http::header,
    response::IntoResponse as _,
};
use futures_util::{StreamExt as _, stream};
use protocol::release;

use super::{Answer, Inner, Shared, problem};

#[derive(Default)]
pub(crate) struct Downloads {
    /// Files by their names.
    pub(crate) files: BTreeMap<String, Bytes>,
    /// Whether a program stops after its first half.
    pub(crate) holds: bool,
    /// How often the release was asked for.
    pub(crate) releases_asked: u32,
    /// How many downloads of programs have begun.
    pub(crate) programs_begun: u32,
}

pub(super) async fn give(State(inner): Shared, Path(name): Path<String>) -> Answer {
    let file = {
        let downloads = &mut inner.state().downloads;
        if name == release::FILE {
            downloads.releases_asked += 1;
        } else {
            downloads.programs_begun += 1;
        }
        downloads.files.get(&name).cloned()
    };
    let file = file.ok_or_else(|| problem(404, "no such download"))?;
    let half = if name == release::FILE { file.len() } else { file.len() / 2 };
    let rest = file.slice(half..);
    let first = stream::once(std::future::ready(file.slice(..half)));
    let parts = first.chain(stream::once(rest_when_released(inner, rest)));
    let body = Body::from_stream(parts.map(Ok::<_, std::convert::Infallible>));
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], body).into_response())
}

async fn rest_when_released(inner: Arc<Inner>, rest: Bytes) -> Bytes {
    loop {
        let changed = inner.changed.notified();
        if rest.is_empty() || !inner.state().downloads.holds {
            return rest;
        }
        changed.await;
    }
}
