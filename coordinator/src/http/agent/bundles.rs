//! Bundles of hosts: stored when their former agents send them, and given to the next ones. The
//! coordinator does not read them; agents check what they take.

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderName, header};
use bytes::Bytes;
use model::AgentId;
use sha2::{Digest as _, Sha256};
use store::host_bundles::{self, ReceivedBundle};

use crate::http::agent::AgentApi;
use crate::http::agent::caller::Caller;
use crate::http::agent::packages::{Receipt, not_stored};
use crate::http::agent::upload;
use crate::http::problem::Problem;
use crate::packages::blob_store::BlobStore;
use crate::packages::upload_limits::BUNDLE_BYTES_WAITING;
use crate::runtime::failure::chain;

/// Takes the bundle of a host that an order releases; durable when it answers.
pub(super) async fn put(
    State(api): State<AgentApi>,
    caller: Caller,
    path: Result<Path<u64>, PathRejection>,
    request: Request,
) -> Result<Json<Receipt>, Problem> {
    caller.may_deliver()?;
    let order = number(path)?;
    let host = host_bundles::sender_of(&api.store, caller.agent, order).await?;
    let host = host.ok_or_else(|| no_order(caller.agent, order))?;
    if host_bundles::bytes_of(&api.store, caller.agent).await? >= BUNDLE_BYTES_WAITING {
        return Err(upload::too_many_waiting());
    }
    api.packages.blobs.check_free_space().map_err(|error| not_stored(&error))?;
    let upload = upload::receive(&api.packages.uploads, caller.agent, request).await?;
    let sha256 = data_encoding::HEXLOWER.encode(&Sha256::digest(&upload.body));
    let object = BlobStore::bundle_key(caller.agent, order, &sha256);
    let bytes = upload.body.len() as u64;
    let stored = api.packages.blobs.put(&object, upload.body.clone()).await;
    stored.map_err(|error| not_stored(&error))?;
    let bundle = ReceivedBundle { order, host, agent: caller.agent, object: &object, bytes };
    let is_new = host_bundles::enter(&api.store, &bundle, api.clock.now()).await?;
    // The same bundle may have come twice, and then its blob stays. The blob of a different bundle
    // is deleted, because no row would ever name it.
    if !is_new && !host_bundles::is_entered(&api.store, order, &object).await? {
        api.packages.blobs.delete_all(&[object]).await;
    }
    Ok(Json(Receipt { status: if is_new { "stored" } else { "duplicate" } }))
}

/// Gives a bundle to the agent that has its host.
pub(super) async fn get(
    State(api): State<AgentApi>,
    caller: Caller,
    path: Result<Path<u64>, PathRejection>,
) -> Result<([(HeaderName, &'static str); 1], Bytes), Problem> {
    let order = number(path)?;
    let object = host_bundles::find(&api.store, caller.agent, order).await?;
    let object = object.ok_or_else(|| {
        Problem::not_found(format!("There is no bundle of order {order} for {}.", caller.agent))
    })?;
    let body = api.packages.blobs.get(&object).await.map_err(|error| {
        tracing::error!(error = chain(&error), "cannot read a host bundle");
        if error.is_missing() {
            Problem::not_found(format!("The bundle of order {order} is not in the storage."))
        } else {
            Problem::unavailable("The coordinator's storage does not answer; ask again later.")
        }
    })?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], body))
}

fn number(path: Result<Path<u64>, PathRejection>) -> Result<u64, Problem> {
    let Path(order) =
        path.map_err(|refusal| Problem::not_found(format!("{}.", refusal.body_text())))?;
    Ok(order)
}

fn no_order(agent: AgentId, order: u64) -> Problem {
    Problem::not_found(format!("{agent} has no order {order} to release a host."))
}
