//! Today's files from the registries, whole and checked.
//!
//! For each registry: ask for the checksum the registry publishes beside its file; when the file at hand has it, nothing is to
//! be done. Else download into `NAME.part` (`download`), going on where an earlier attempt stopped if the server still has the
//! same edition (`partial`), compare the checksum, and only then give the file its name. A registry may put out a new edition
//! between the two requests, so that a wrong checksum is tried once more from the start.

mod checksum;
mod download;
mod error;
mod mirror;
mod partial;
mod tries;

use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Client;

use crate::watch::{Step, Watch};

pub use error::FetchError;
pub use mirror::{Mirror, MirrorError};

/// How to go on after trouble on the way.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Requests for the same thing before giving up, from 1.
    pub attempts: u32,
    /// The same for a server that cannot even be connected to: mostly there is no network, and waiting does not help.
    pub connections: u32,
    /// Wait before the second; doubled before each further one.
    pub pause: Duration,
}

impl Default for Patience {
    /// Five attempts over half a minute, two when there is no connection.
    fn default() -> Self {
        Self { attempts: 5, connections: 2, pause: Duration::from_secs(2) }
    }
}

/// A file that is there and has the registry's checksum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Whether the one that was there already had the checksum, so that nothing was downloaded.
    pub up_to_date: bool,
}

/// Downloads the file of one registry into `dir`, which must exist.
pub async fn fetch(
    mirror: &Mirror,
    dir: &Path,
    patience: Patience,
    watch: Watch<'_>,
) -> Result<Fetched, FetchError> {
    let client = client(mirror)?;
    let path = dir.join(mirror.file_name());
    let mut found = String::new();
    let mut wanted = String::new();
    for _ in 0..2 {
        wanted = checksum::published(&client, mirror, patience, watch).await?;
        if path.exists() && checksum::of_file(&path).await? == wanted {
            return fetched(path, true).await;
        }
        let part = partial::Partial::open(&path).await?;
        let part = download::download(&client, mirror, part, patience, watch).await?;
        watch(Step::Done);
        found = checksum::of_file(part.path()).await?;
        if found == wanted {
            part.finish(&path).await?;
            return fetched(path, false).await;
        }
        part.discard().await?;
        watch(Step::Again {
            why: "the checksum is not the registry's; it may have put out a new edition just now",
        });
    }
    Err(FetchError::Checksum { url: mirror.url().to_string(), wanted, found })
}

async fn fetched(path: PathBuf, up_to_date: bool) -> Result<Fetched, FetchError> {
    let meta = tokio::fs::metadata(&path).await.map_err(FetchError::disk("look at", &path))?;
    Ok(Fetched { path, bytes: meta.len(), up_to_date })
}

const USER_AGENT: &str = concat!("nearcrawl-rir-loader/", env!("CARGO_PKG_VERSION"));
const CONNECT_LIMIT: Duration = Duration::from_secs(15);
const SILENCE_LIMIT: Duration = Duration::from_secs(30);

fn client(mirror: &Mirror) -> Result<Client, FetchError> {
    // An error says that a provider is installed already, which is as good.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut client = Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(CONNECT_LIMIT)
        .read_timeout(SILENCE_LIMIT)
        .redirect(reqwest::redirect::Policy::limited(5))
        // A redirect must not lead from https to http.
        .https_only(mirror.url().scheme() == "https");
    if mirror.is_local() {
        client = client.no_proxy();
    }
    client.build().map_err(FetchError::Client)
}
