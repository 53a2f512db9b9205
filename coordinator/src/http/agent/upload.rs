//! The body of an upload: bounded in size, memory and time.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use model::AgentId;
use protocol::limits;
use tokio::time::{Instant, timeout_at};

use crate::http::problem::Problem;
use crate::packages::upload_limits::{PAUSE, UploadLimits, UploadPermit, deadline};

/// A body that was received, and the permission to keep it in memory.
pub(super) struct Upload<'a> {
    pub(super) body: Bytes,
    _permit: UploadPermit<'a>,
}

/// Receives the body of a request. An agent has a share of the uploads at the same time, and all
/// together have a share of the memory.
pub(super) async fn receive(
    uploads: &UploadLimits,
    agent: AgentId,
    request: Request,
) -> Result<Upload<'_>, Problem> {
    let promised = promised_bytes(&request);
    if promised > limits::PACKAGE_BYTES {
        return Err(too_large());
    }
    let permit = uploads.enter(agent, promised).await.ok_or_else(too_many)?;
    let body = read(request.into_body(), promised).await?;
    Ok(Upload { body, _permit: permit })
}

/// The size that the request promises; the largest one where it promises none.
fn promised_bytes(request: &Request) -> usize {
    let value = request.headers().get(header::CONTENT_LENGTH);
    let length = value.and_then(|value| value.to_str().ok()?.parse().ok());
    length.unwrap_or(limits::PACKAGE_BYTES)
}

async fn read(body: Body, promised: usize) -> Result<Bytes, Problem> {
    let mut stream = body.into_data_stream();
    let mut received = BytesMut::with_capacity(promised);
    let begin = Instant::now();
    loop {
        let pause_ends = Instant::now() + PAUSE;
        let next = timeout_at(pause_ends.min(begin + deadline(received.len())), stream.next());
        let Some(chunk) = next.await.map_err(|_| too_slow())? else { return Ok(received.freeze()) };
        let chunk = chunk.map_err(|_| broken())?;
        if received.len() + chunk.len() > limits::PACKAGE_BYTES {
            return Err(too_large());
        }
        received.extend_from_slice(&chunk);
    }
}

fn too_large() -> Problem {
    let detail = format!("A package or bundle has at most {} bytes.", limits::PACKAGE_BYTES);
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", detail)
}

fn too_many() -> Problem {
    let detail = "Two uploads of this agent are being received; send the others after them.";
    let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "too-many-uploads", detail);
    Problem { retry_after_s: Some(1), ..problem }
}

fn too_slow() -> Problem {
    let detail = "The upload arrived too slowly: 8 KiB a second, without a pause of 20 seconds, \
                  is the least; send it again.";
    Problem::new(StatusCode::REQUEST_TIMEOUT, "slow-upload", detail)
}

fn broken() -> Problem {
    let detail = "The upload did not arrive whole; send it again.";
    Problem::new(StatusCode::REQUEST_TIMEOUT, "broken-upload", detail)
}
