//! Downloads the registries' files and checks that they are complete.
//!
//! For each file: request the checksum that the registry publishes beside it; when the local file
//! has it, nothing is left to do. Otherwise download into `NAME.part` ([`mod@download`]). An
//! earlier attempt is continued if the server still has the same edition ([`partial`]). Compare the
//! checksum, and only then rename the file.
//!
//! WHOIS dumps mostly have no checksum. There the server is asked for an edition newer than the
//! local one ([`validator`]), and the checksum that gzip stores in the file must match ([`gzip`]).

mod checksum;
mod download;
mod error;
mod gzip;
mod mirror;
mod partial;
mod retry;
mod validator;

use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Client;

use self::mirror::Integrity;
use self::partial::PartialDownload;
use self::validator::Validator;
use crate::progress::{Progress, Step};

pub use error::FetchError;
pub use mirror::{InvalidMirror, Mirror, RemoteFile};
pub use retry::RetryPolicy;

/// Behaviour towards a registry's server.
#[derive(Debug, Clone, Copy, Default)]
pub struct FetchOptions<'a> {
    /// When to repeat a failed request.
    pub retry: RetryPolicy,
    /// Mail address or URL of the operator, sent in `User-Agent`.
    pub contact: Option<&'a str>,
}

/// A complete local file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Size in bytes.
    pub bytes: u64,
    /// Whether the local file was the newest edition, so that nothing was downloaded.
    pub up_to_date: bool,
}

/// Everything that the requests for one file have in common.
struct Transfer<'a> {
    client: Client,
    remote: &'a RemoteFile,
    retry: RetryPolicy,
    progress: Progress<'a>,
}

/// Downloads a file into an existing directory.
pub async fn fetch(
    remote: &RemoteFile,
    dir: &Path,
    options: FetchOptions<'_>,
    progress: Progress<'_>,
) -> Result<LocalFile, FetchError> {
    let client = build_client(remote, options.contact)?;
    let transfer = Transfer { client, remote, retry: options.retry, progress };
    let path = dir.join(remote.name());
    // A registry may publish a new edition between the two requests, so after a wrong checksum
    // everything is requested a second time.
    if let Ok(fetched) = transfer.fetch_once(&path).await? {
        return Ok(fetched);
    }
    progress(Step::Retry {
        reason: "the checksum does not match; the registry may have published a new edition",
    });
    transfer.fetch_once(&path).await?
}

impl Transfer<'_> {
    /// Brings the local file up to date. The inner error is damage of the downloaded file.
    async fn fetch_once(&self, path: &Path) -> Result<Result<LocalFile, FetchError>, FetchError> {
        let checksum = self.published_checksum().await?;
        if path.exists() && checksum.is_some() && checksum == Some(checksum::of_file(path).await?) {
            return fetched(path, true).await.map(Ok);
        }
        let local = if checksum.is_none() { Validator::of_file(path).await } else { None };
        let part = PartialDownload::open(path).await?;
        let Some(part) = self.download(part, local.as_ref()).await? else {
            return fetched(path, true).await.map(Ok);
        };
        (self.progress)(Step::Done);
        if let Some(damage) = self.find_damage(&part, checksum).await? {
            part.discard().await?;
            return Ok(Err(damage));
        }
        let validator = part.validator().map(str::to_owned);
        let bytes = part.len();
        part.finish(path).await?;
        if self.remote.integrity() == Integrity::Gzip {
            Validator::save(validator.as_deref(), path, bytes).await?;
        }
        fetched(path, false).await.map(Ok)
    }

    async fn find_damage(
        &self,
        part: &PartialDownload,
        checksum: Option<String>,
    ) -> Result<Option<FetchError>, FetchError> {
        let url = self.remote.url().to_string();
        let Some(wanted) = checksum else {
            let reason = gzip::find_damage(part.path()).await?;
            return Ok(reason.map(|reason| FetchError::Damaged { url, reason }));
        };
        let found = checksum::of_file(part.path()).await?;
        Ok((found != wanted).then_some(FetchError::Checksum { url, wanted, found }))
    }
}

async fn fetched(path: &Path, up_to_date: bool) -> Result<LocalFile, FetchError> {
    let meta = tokio::fs::metadata(path).await.map_err(FetchError::disk("look at", path))?;
    Ok(LocalFile { path: path.to_owned(), bytes: meta.len(), up_to_date })
}

const USER_AGENT: &str = concat!("nearcrawl-rir-loader/", env!("CARGO_PKG_VERSION"));
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
const READ_TIMEOUT: Duration = Duration::from_secs(30);

fn build_client(remote: &RemoteFile, contact: Option<&str>) -> Result<Client, FetchError> {
    // An error means that a provider is installed already, which serves as well.
    drop(rustls::crypto::ring::default_provider().install_default());
    let agent = contact
        .map_or_else(|| USER_AGENT.to_owned(), |contact| format!("{USER_AGENT} ({contact})"));
    let mut client = Client::builder()
        .user_agent(agent)
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(READ_TIMEOUT)
        .redirect(reqwest::redirect::Policy::limited(5))
        // A redirect must not lead from https to http.
        .https_only(remote.url().scheme() == "https");
    if remote.is_local() {
        client = client.no_proxy();
    }
    client.build().map_err(FetchError::Client)
}
