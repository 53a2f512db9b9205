//! Downloads for partners: the agent's programs and the files that belong to them.

use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse as _, Response};
use protocol::key::PublicKey;
use protocol::release;
use serde::Serialize;
use tokio_util::io::ReaderStream;
use utoipa::ToSchema;

use crate::http::admin::session::ClientAddress;
use crate::http::client_slots::Full;
use crate::http::extract::{Json, Path};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::runtime::agent_programs::{AgentProgram, AgentPrograms};

/// The systemd unit of the agent.
const UNIT: &str = include_str!("../../../../deploy/systemd/nearcrawl-agent.service");
/// The agent's configuration with all keys.
const EXAMPLE: &str = include_str!("../../../../crawler-agent/agent.example.toml");
/// The partner's guide, which the pages for partners link to.
const GUIDE: &str = include_str!("../../../../docs/partner.md");

/// What partners can download.
#[derive(Debug, Serialize, ToSchema)]
pub struct Downloads {
    /// The agent's programs, each below `/downloads/`; null where the operator offers none, so that
    /// partners get them in another way.
    #[schema(required = true)]
    pub programs: Option<Vec<AgentProgram>>,
    /// Public key of the operator's releases, for `[update]` of an agent's configuration; null
    /// where the operator signs none.
    #[schema(required = true, value_type = Option<String>)]
    pub release_key: Option<PublicKey>,
}

/// The agent's programs that the operator offers, with their hashes.
#[utoipa::path(get, path = "/api/v1/downloads", operation_id = "list_downloads", tag = "joining",
    responses((status = 200, body = Downloads)))]
pub async fn list(State(state): State<ApiState>) -> Result<Json<Downloads>, Problem> {
    let programs = read(&state, "directory of programs", AgentPrograms::list).await?;
    let release_key = state.core.config.release_key.as_deref().copied();
    Ok(Json(Downloads { programs, release_key }))
}

/// Serves `/downloads/NAME`: a program of the operator, or a file of this version.
pub async fn get(
    State(state): State<ApiState>,
    ClientAddress(client): ClientAddress,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    match name.as_str() {
        "nearcrawl-agent.service" => return Ok(text(UNIT)),
        "agent.example.toml" => return Ok(text(EXAMPLE)),
        "partner.md" => return Ok(text(GUIDE)),
        release::FILE => return release(&state).await,
        _ => {}
    }
    let path = state.agent_programs.path(&name).ok_or_else(|| nothing(&name))?;
    let slot = state.downloads.try_begin(client).map_err(too_many)?;
    let file = tokio::fs::File::open(path).await.map_err(|_| nothing(&name))?;
    let metadata = file.metadata().await.map_err(|error| Problem::internal(&error))?;
    if !metadata.is_file() {
        return Err(nothing(&name));
    }
    let stream = ReaderStream::new(file);
    // The slot is held as long as the download lasts.
    let stream = futures_util::StreamExt::map(stream, move |chunk| {
        let _held = &slot;
        chunk
    });
    let length = metadata.len().to_string();
    let headers: [(HeaderName, &str); 3] = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_LENGTH, &length),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    Ok((headers, Body::from_stream(stream)).into_response())
}

/// The signed release, which agents ask for now and then.
async fn release(state: &ApiState) -> Result<Response, Problem> {
    let content = read(state, "release", AgentPrograms::release).await?;
    let content = content.ok_or_else(|| nothing(release::FILE))?;
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-cache")];
    Ok((headers, content).into_response())
}

fn text(content: &'static str) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], content).into_response()
}

fn too_many(full: Full) -> Problem {
    match full {
        Full::OfNetwork => {
            let detail = "Too many downloads of your network run at once; try again later.";
            Problem::too_many(detail, 60)
        }
        Full::InAll => Problem::unavailable("Too many downloads run at once; try again."),
    }
}

fn nothing(name: &str) -> Problem {
    let name: String = name.chars().take(100).collect();
    Problem::not_found(format!("This coordinator offers no download {name}."))
}

/// Reads `what` in the directory of programs, on a thread that may block.
async fn read<T: Send + 'static>(
    state: &ApiState,
    what: &'static str,
    read: fn(&AgentPrograms) -> io::Result<T>,
) -> Result<T, Problem> {
    let programs = Arc::clone(&state.agent_programs);
    let read = tokio::task::spawn_blocking(move || read(&programs)).await;
    read.map_err(|error| Problem::internal(&error))?.map_err(|error| {
        tracing::error!(%error, what, "agent_downloads cannot be read");
        Problem::unavailable(format!("The operator's {what} cannot be read; tell them."))
    })
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::*;

    #[test]
    fn a_network_with_too_many_downloads_is_told_from_too_many_in_all() {
        assert_eq!(too_many(Full::OfNetwork).status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(too_many(Full::InAll).status, StatusCode::SERVICE_UNAVAILABLE);
    }
}
