//! Resumption of uploads: what has arrived of a package is kept when the rest does not come.

use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use axum::http::{HeaderMap, StatusCode};
use bytes::{Bytes, BytesMut};
use protocol::package::PackageName;
use protocol::resumption::{REPR_DIGEST, UPLOAD_OFFSET, sha256_of};

use crate::http::problem::Problem;
use crate::packages::partial_uploads::{PartialName, PartialUploads};

/// A body that is arriving. What has arrived of a package with a known digest is kept when this is
/// dropped before the end: by an error, or together with its connection.
#[derive(Default)]
pub(super) struct Arriving {
    pub(super) received: BytesMut,
    /// Bytes that are kept already.
    kept: usize,
    partial: Option<(Arc<PartialUploads>, PartialName)>,
}

impl Arriving {
    /// A package of which these bytes are known. Without a digest nothing is kept.
    pub(super) fn new(
        uploads: &Arc<PartialUploads>,
        name: Option<PartialName>,
        received: &[u8],
    ) -> Self {
        let partial = name.map(|name| (Arc::clone(uploads), name));
        Self { received: BytesMut::from(received), kept: received.len(), partial }
    }

    /// The whole body.
    pub(super) fn complete(mut self) -> Bytes {
        self.partial = None;
        std::mem::take(&mut self.received).freeze()
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        let Some((uploads, name)) = self.partial.take() else { return };
        if self.received.len() <= self.kept {
            return;
        }
        let received = std::mem::take(&mut self.received);
        // No request waits for this: if it fails, the agent sends the whole package again.
        tokio::task::spawn_blocking(move || {
            if let Err(error) = uploads.keep(&name, &received, SystemTime::now()) {
                tracing::warn!(%error, "cannot keep a partial upload");
            }
        });
    }
}

/// The package as it is named by the request, where the request has a digest.
pub(super) fn name_of(package: PackageName, headers: &HeaderMap) -> Option<PartialName> {
    let sha256 = sha256_of(headers.get(REPR_DIGEST)?.to_str().ok()?)?;
    Some(PartialName { package, sha256 })
}

/// The package of a request that must have a digest.
pub(super) fn required_name(
    package: PackageName,
    headers: &HeaderMap,
) -> Result<PartialName, Problem> {
    name_of(package, headers).ok_or_else(|| {
        Problem::bad_request("The header Repr-Digest with the SHA-256 of the package is missing.")
    })
}

/// The offset that a request for resumption names.
pub(super) fn offset_of(headers: &HeaderMap) -> Result<usize, Problem> {
    let value = headers.get(UPLOAD_OFFSET).and_then(|value| value.to_str().ok()?.parse().ok());
    value.ok_or_else(|| Problem::bad_request("The header Upload-Offset with a number is missing."))
}

/// How much has arrived of a package so far.
pub(super) async fn length(
    uploads: &Arc<PartialUploads>,
    name: PartialName,
) -> Result<u64, Problem> {
    blocking(uploads, move |uploads| uploads.length(&name, SystemTime::now())).await
}

/// What has arrived of a package so far, for a request that goes on at `offset`.
pub(super) async fn arriving_from(
    uploads: &Arc<PartialUploads>,
    name: PartialName,
    offset: usize,
) -> Result<Arriving, Problem> {
    let part = blocking(uploads, move |uploads| uploads.read(&name, SystemTime::now())).await?;
    if part.len() != offset {
        return Err(wrong_offset(offset, part.len()));
    }
    Ok(Arriving::new(uploads, Some(name), &part))
}

/// Forgets what has arrived of a package.
pub(super) async fn remove(
    uploads: &Arc<PartialUploads>,
    name: PartialName,
) -> Result<(), Problem> {
    if !uploads.has(&name) {
        return Ok(());
    }
    blocking(uploads, move |uploads| uploads.remove(&name)).await
}

async fn blocking<T: Send + 'static>(
    uploads: &Arc<PartialUploads>,
    work: impl FnOnce(&PartialUploads) -> io::Result<T> + Send + 'static,
) -> Result<T, Problem> {
    let uploads = Arc::clone(uploads);
    let done = tokio::task::spawn_blocking(move || work(&uploads)).await;
    done.map_err(|error| Problem::internal(&error))?.map_err(|error| Problem::internal(&error))
}

/// The request goes on at another byte than the one that is missing. The agent asks again.
fn wrong_offset(offset: usize, has: usize) -> Problem {
    let detail = format!("The upload goes on at byte {offset}, but {has} bytes are here.");
    Problem::new(StatusCode::PRECONDITION_FAILED, "upload-offset", detail)
}
