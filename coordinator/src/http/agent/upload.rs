//! The body of an upload: bounded in size, memory and time.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use bytes::Bytes;
use futures_util::StreamExt as _;
use model::AgentId;
use protocol::limits;
use tokio::time::{Instant, timeout_at};

use crate::http::agent::resumption::Arriving;
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
    receive_rest(uploads, agent, request, 0, async { Ok(Arriving::default()) }).await
}

/// Receives the body of a request that goes on after `before` bytes. These are read by `arriving`
/// once there is memory for the whole.
pub(super) async fn receive_rest(
    uploads: &UploadLimits,
    agent: AgentId,
    request: Request,
    before: usize,
    arriving: impl Future<Output = Result<Arriving, Problem>>,
) -> Result<Upload<'_>, Problem> {
    let promised = promised_bytes(&request, limits::PACKAGE_BYTES.saturating_sub(before))
        .saturating_add(before);
    if promised > limits::PACKAGE_BYTES {
        return Err(too_large());
    }
    let permit = uploads.enter(agent, promised).await.ok_or_else(too_many)?;
    let body = read(request.into_body(), promised, arriving.await?).await?;
    Ok(Upload { body, _permit: permit })
}

/// The size that the request promises; the largest one where it promises none.
pub(super) fn promised_bytes(request: &Request, largest: usize) -> usize {
    let value = request.headers().get(header::CONTENT_LENGTH);
    let length: Option<usize> = value.and_then(|value| value.to_str().ok()?.parse().ok());
    length.unwrap_or(largest)
}

async fn read(body: Body, promised: usize, mut arriving: Arriving) -> Result<Bytes, Problem> {
    let mut stream = body.into_data_stream();
    let before = arriving.received.len();
    arriving.received.reserve(promised.saturating_sub(before));
    let begin = Instant::now();
    loop {
        let pause_ends = Instant::now() + PAUSE;
        let read = arriving.received.len() - before;
        let next = timeout_at(pause_ends.min(begin + deadline(read)), stream.next());
        let Some(chunk) = next.await.map_err(|_| too_slow())? else {
            return Ok(arriving.complete());
        };
        let chunk = chunk.map_err(|_| broken())?;
        if arriving.received.len() + chunk.len() > limits::PACKAGE_BYTES {
            return Err(too_large());
        }
        arriving.received.extend_from_slice(&chunk);
    }
}

fn too_large() -> Problem {
    let detail = format!("A package or bundle has at most {} bytes.", limits::PACKAGE_BYTES);
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", detail)
}

pub(super) fn too_many() -> Problem {
    let detail = "Two uploads of this agent are being received; send the others after them.";
    let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "too-many-uploads", detail);
    Problem { retry_after_s: Some(1), ..problem }
}

/// 429: the host bundles that the agent has sent before wait.
pub(super) fn too_many_waiting() -> Problem {
    let detail = "Too many host bundles of this agent wait; keep others and send them later.";
    let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "too-many-waiting", detail);
    Problem { retry_after_s: Some(10), ..problem }
}

fn too_slow() -> Problem {
    let detail = "The upload arrived too slowly: 8 KiB a second, without a pause of 20 seconds, \
                  is the least; send it again.";
    Problem::new(StatusCode::REQUEST_TIMEOUT, "slow-upload", detail)
}

pub(super) fn broken() -> Problem {
    let detail = "The upload did not arrive whole; send it again.";
    Problem::new(StatusCode::REQUEST_TIMEOUT, "broken-upload", detail)
}
