//! Agents ship packages. A package is acknowledged when its body and its row in the ledger are
//! durable, in this order.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use model::{AgentState, HostKey};
use protocol::package::{PackageError, PackageName};
use protocol::resumption::UPLOAD_OFFSET;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use store::packages::{self, EnterOutcome, ReceivedPackage};
use store::{handovers, hosts};

use crate::http::agent::AgentApi;
use crate::http::agent::caller::Caller;
use crate::http::agent::resumption::{self, Arriving};
use crate::http::agent::{refusal, upload};
use crate::http::problem::Problem;
use crate::packages::blob_store::{BlobError, BlobStore};
use crate::packages::ingest_packages;
use crate::packages::partial_uploads::PartialName;
use crate::packages::verify::{self, VerifiedPackage};
use crate::runtime::events::Event;
use crate::runtime::failure::chain;

/// The acknowledgement; the agent may forget what it sent.
#[derive(Debug, Serialize)]
pub(super) struct Receipt {
    pub(super) status: &'static str,
}

/// Takes a package, or says that it was taken before.
pub(super) async fn put(
    State(api): State<AgentApi>,
    caller: Caller,
    path: Result<Path<(u64, u64)>, PathRejection>,
    request: Request,
) -> Result<Json<Receipt>, Problem> {
    let name = package_name(caller, path)?;
    check_room(&api, &name).await?;
    let partial = resumption::name_of(name, request.headers());
    let arriving = async { Ok(Arriving::new(&api.packages.partial_uploads, partial, &[])) };
    let uploads = &api.packages.uploads;
    let upload = upload::receive_rest(uploads, caller.agent, request, 0, arriving).await?;
    take(&api, caller, &name, &upload.body, partial).await
}

/// Says how much has arrived of a package whose upload broke.
pub(super) async fn offset(
    State(api): State<AgentApi>,
    caller: Caller,
    path: Result<Path<(u64, u64)>, PathRejection>,
    headers: HeaderMap,
) -> Result<(StatusCode, [(&'static str, String); 1]), Problem> {
    let name = resumption::required_name(package_name(caller, path)?, &headers)?;
    let bytes = resumption::length(&api.packages.partial_uploads, name).await?;
    Ok((StatusCode::NO_CONTENT, [(UPLOAD_OFFSET, bytes.to_string())]))
}

/// Takes the rest of a package whose upload broke.
pub(super) async fn resume(
    State(api): State<AgentApi>,
    caller: Caller,
    path: Result<Path<(u64, u64)>, PathRejection>,
    request: Request,
) -> Result<Json<Receipt>, Problem> {
    let name = package_name(caller, path)?;
    check_room(&api, &name).await?;
    let partial = resumption::required_name(name, request.headers())?;
    let offset = resumption::offset_of(request.headers())?;
    let arriving = resumption::arriving_from(&api.packages.partial_uploads, partial, offset);
    let uploads = &api.packages.uploads;
    let upload = upload::receive_rest(uploads, caller.agent, request, offset, arriving).await?;
    take(&api, caller, &name, &upload.body, Some(partial)).await
}

/// Refuses a package before its bytes are on their way, while there is no room for it. A package
/// that was taken before, and whose acknowledgement was lost, needs no room.
async fn check_room(api: &AgentApi, name: &PackageName) -> Result<(), Problem> {
    let Err(error) = api.packages.blobs.check_free_space() else { return Ok(()) };
    match packages::find(&api.store, name).await? {
        Some(_) => Ok(()),
        None => Err(not_stored(&error)),
    }
}

fn package_name(
    caller: Caller,
    path: Result<Path<(u64, u64)>, PathRejection>,
) -> Result<PackageName, Problem> {
    caller.may_deliver()?;
    let Path((epoch, seq)) =
        path.map_err(|refusal| Problem::not_found(format!("{}.", refusal.body_text())))?;
    let name = PackageName { agent: caller.agent, epoch, seq };
    check_name(&name)?;
    Ok(name)
}

/// Takes a package that has arrived whole.
async fn take(
    api: &AgentApi,
    caller: Caller,
    name: &PackageName,
    body: &Bytes,
    partial: Option<PartialName>,
) -> Result<Json<Receipt>, Problem> {
    let sha256 = Sha256::digest(body);
    if let Some(partial) = partial {
        resumption::remove(&api.packages.partial_uploads, partial).await?;
        // Something in between changed the bytes. The package itself may be good.
        if partial.sha256 != *sha256 {
            return Err(upload::broken());
        }
    }
    match packages::find(&api.store, name).await? {
        Some(known) if known == sha256.as_slice() => {
            api.packages.metrics.duplicate();
            return Ok(Json(Receipt { status: "duplicate" }));
        }
        Some(_) => return Err(conflict(api, name)),
        None => {}
    }
    let verified = verify(api, caller, name, body.clone()).await?;
    store_it(api, &verified, body.clone(), &sha256).await
}

fn check_name(name: &PackageName) -> Result<(), Problem> {
    if name.seq >= 1 && i64::try_from(name.seq).is_ok() && i64::try_from(name.epoch).is_ok() {
        return Ok(());
    }
    Err(refused("name", "Epoch and number must be at most 2^63 - 1, and numbers begin at 1."))
}

/// Checks the whole package before anything is stored: it must come from the caller, under this
/// name, and be readable to its end.
async fn verify(
    api: &AgentApi,
    caller: Caller,
    name: &PackageName,
    body: Bytes,
) -> Result<VerifiedPackage, Problem> {
    let permit = Arc::clone(&api.packages.verifications)
        .acquire_owned()
        .await
        .map_err(|_| Problem::unavailable("The coordinator is stopping."))?;
    let checking = tokio::task::spawn_blocking(move || {
        // The permit ends with the work, also when the agent has hung up.
        let _permit = permit;
        verify::verify(&body, &caller.key)
    })
    .await;
    let verified = checking.map_err(|error| Problem::internal(&error))?.map_err(|error| {
        tracing::warn!(agent = %caller.agent, error = chain(&error), "refused a package");
        api.packages.metrics.refused(reason(&error));
        refused(reason(&error), format!("The package is refused: {}.", chain(&error)))
    })?;
    if verified.header.name == *name {
        return Ok(verified);
    }
    tracing::warn!(agent = %caller.agent, "refused a package whose header has another name");
    api.packages.metrics.refused("name");
    Err(refused(
        "name",
        "The package's signed header names another agent, epoch or number than the path.",
    ))
}

async fn store_it(
    api: &AgentApi,
    verified: &VerifiedPackage,
    body: Bytes,
    sha256: &[u8],
) -> Result<Json<Receipt>, Problem> {
    let VerifiedPackage { header, hosts: named } = verified;
    // Decided here once for all coordinators, which may take the package later.
    let named: Vec<HostKey> = named.iter().cloned().collect();
    let foreign_hosts = hosts::foreign(&api.store, header.name.agent, &named).await?;
    handovers::note_lost_results(&api.store, header.name.agent, &foreign_hosts).await?;
    let object = BlobStore::key(&header.name, &data_encoding::HEXLOWER.encode(sha256));
    let bytes = body.len() as u64;
    api.packages.blobs.put(&object, body).await.map_err(|error| not_stored(&error))?;
    let received =
        ReceivedPackage { header, sha256, object: &object, bytes, foreign_hosts: &foreign_hosts };
    let entered = packages::enter(&api.store, &received, api.clock.now()).await?;
    if matches!(entered, EnterOutcome::Conflict | EnterOutcome::Revoked) {
        // Another package took the number, or the agent was revoked, after this one had been looked
        // up: no row will ever name the body.
        api.packages.blobs.delete_all(std::slice::from_ref(&object)).await;
    }
    match entered {
        EnterOutcome::New => {
            api.packages.metrics.received(bytes);
            api.events.emit(Event::PackageReceived);
            api.peer_hints.wake_task(ingest_packages::NAME);
            Ok(Json(Receipt { status: "stored" }))
        }
        EnterOutcome::Duplicate => {
            api.packages.metrics.duplicate();
            Ok(Json(Receipt { status: "duplicate" }))
        }
        EnterOutcome::Conflict => Err(conflict(api, &header.name)),
        EnterOutcome::Revoked => Err(refusal::not_from(AgentState::Revoked)),
    }
}

/// Wait of an agent whose package cannot be stored, in seconds: it sends all of it again.
const STORE_AGAIN_S: u64 = 300;

pub(super) fn not_stored(error: &BlobError) -> Problem {
    tracing::error!(error = chain(error), "cannot store what agents send");
    let problem = if error.is_full() {
        let detail = "The coordinator's disk is full; keep what you sent and send it again later.";
        Problem::new(StatusCode::INSUFFICIENT_STORAGE, "disk-full", detail)
    } else {
        let detail = "The coordinator's storage does not answer; keep what you sent and send it \
                      again later.";
        Problem::unavailable(detail)
    };
    Problem { retry_after_s: Some(STORE_AGAIN_S), ..problem }
}

/// Refuses a package under whose number another one was received: the agent's data directory was
/// copied or restored.
fn conflict(api: &AgentApi, name: &PackageName) -> Problem {
    let PackageName { agent, epoch, seq } = name;
    tracing::warn!(%agent, epoch, seq, "refused a package: its number has another one");
    api.packages.metrics.refused("conflict");
    let detail = format!(
        "Another package was received as number {} of epoch {}; an agent that lost its data must \
         draw a new epoch.",
        name.seq, name.epoch
    );
    Problem::new(StatusCode::CONFLICT, "package-conflict", detail)
}

fn refused(reason: &str, detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, format!("package-{reason}"), detail)
}

/// The typed reason in the problem's name.
fn reason(error: &PackageError) -> &'static str {
    match error {
        PackageError::TooLarge(_) => "too-large",
        PackageError::Magic => "magic",
        PackageError::Truncated => "truncated",
        PackageError::Header(_) | PackageError::HeaderTooLarge(_) => "header",
        PackageError::Signature(_) => "signature",
        PackageError::BodyHash => "body-hash",
        PackageError::Inflate(_) => "inflate",
        PackageError::Bomb(_) | PackageError::LongerThanPromised => "bomb",
        PackageError::TooManyEntries(_) | PackageError::EntryCount { .. } => "entry-count",
        PackageError::BlockTooLarge(_) | PackageError::Block { .. } => "entry",
        PackageError::Value { .. } => "value",
    }
}
