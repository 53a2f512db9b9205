//! Today's files from the registries, whole and checked.
//!
//! For each file: ask for the checksum the registry publishes beside it; when the file at hand has
//! it, nothing is to be done. Else download into `NAME.part` (`download`), going on where an
//! earlier attempt stopped if the server still has the same edition (`partial`), compare the
//! checksum, and only then give the file its name. A registry may put out a new edition between the
//! two requests, so that a wrong checksum is tried once more from the start.
//!
//! WHOIS dumps mostly have no such checksum. There the server is asked for something newer than the
//! edition at hand (`edition`), and what gzip says of its own content must be true (`packed`).

mod checksum;
mod download;
mod edition;
mod error;
mod mirror;
mod packed;
mod partial;
mod tries;

use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Client;

use self::download::download;
use self::edition::Edition;
use self::mirror::Proof;
use self::partial::Partial;
use crate::watch::{Step, Watch};

pub use checksum::checksum_in;
pub use error::FetchError;
pub use mirror::{Mirror, MirrorError, Remote};

/// How to go on after trouble on the way.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Requests for the same thing before giving up, from 1.
    pub attempts: u32,
    /// The same for a server that cannot even be connected to: mostly there is no network, and
    /// waiting does not help.
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

/// How to behave towards a registry's server.
#[derive(Debug, Clone, Copy, Default)]
pub struct Manners<'a> {
    /// After trouble.
    pub patience: Patience,
    /// Where whoever runs the server can reach whoever fetches: a mail address or a URL, told in
    /// `User-Agent`.
    pub contact: Option<&'a str>,
}

/// A file that is there, whole and undamaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Whether the one that was there already is the newest, so that nothing was downloaded.
    pub up_to_date: bool,
}

/// Downloads a file into `dir`, which must exist.
pub async fn fetch(
    remote: &Remote,
    dir: &Path,
    manners: Manners<'_>,
    watch: Watch<'_>,
) -> Result<Fetched, FetchError> {
    let client = client(remote, manners.contact)?;
    let (path, patience) = (dir.join(remote.name()), manners.patience);
    let mut wrong = None;
    for _ in 0..2 {
        let wanted = checksum::published(&client, remote, patience, watch).await?;
        if path.exists() && wanted.is_some() && wanted == Some(checksum::of_file(&path).await?) {
            return fetched(path, true).await;
        }
        let at_hand = if wanted.is_none() { Edition::of(&path).await } else { None };
        let part = Partial::open(&path).await?;
        let Some(part) = download(&client, remote, part, at_hand.as_ref(), patience, watch).await?
        else {
            return fetched(path, true).await;
        };
        watch(Step::Done);
        wrong = fault(remote, &part, wanted).await?;
        if wrong.is_none() {
            keep(remote, part, &path).await?;
            return fetched(path, false).await;
        }
        part.discard().await?;
        watch(Step::Again {
            why: "the checksum does not match; the registry may have put out a new edition just now",
        });
    }
    wrong.map_or_else(|| Err(FetchError::Changing { url: remote.url().to_string() }), Err)
}

/// What is wrong with what was downloaded.
async fn fault(
    remote: &Remote,
    part: &Partial,
    wanted: Option<String>,
) -> Result<Option<FetchError>, FetchError> {
    let url = remote.url().to_string();
    let Some(wanted) = wanted else {
        let damage = packed::damage(part.path()).await?;
        return Ok(damage.map(|why| FetchError::Damaged { url, why }));
    };
    let found = checksum::of_file(part.path()).await?;
    Ok((found != wanted).then_some(FetchError::Checksum { url, wanted, found }))
}

/// Gives it its name. The edition matters where there is no checksum to tell it by.
async fn keep(remote: &Remote, part: Partial, path: &Path) -> Result<(), FetchError> {
    let (edition, bytes) = (part.edition().map(str::to_owned), part.len());
    part.finish(path).await?;
    match remote.proof() {
        Proof::Published => Ok(()),
        Proof::Packed => Edition::note(edition.as_deref(), path, bytes).await,
    }
}

async fn fetched(path: PathBuf, up_to_date: bool) -> Result<Fetched, FetchError> {
    let meta = tokio::fs::metadata(&path).await.map_err(FetchError::disk("look at", &path))?;
    Ok(Fetched { path, bytes: meta.len(), up_to_date })
}

const PROGRAM: &str = concat!("nearcrawl-rir-loader/", env!("CARGO_PKG_VERSION"));
const CONNECT_LIMIT: Duration = Duration::from_secs(15);
const SILENCE_LIMIT: Duration = Duration::from_secs(30);

fn client(remote: &Remote, contact: Option<&str>) -> Result<Client, FetchError> {
    // An error says that a provider is installed already, which is as good.
    drop(rustls::crypto::ring::default_provider().install_default());
    let agent =
        contact.map_or_else(|| PROGRAM.to_owned(), |contact| format!("{PROGRAM} ({contact})"));
    let mut client = Client::builder()
        .user_agent(agent)
        .connect_timeout(CONNECT_LIMIT)
        .read_timeout(SILENCE_LIMIT)
        .redirect(reqwest::redirect::Policy::limited(5))
        // A redirect must not lead from https to http.
        .https_only(remote.url().scheme() == "https");
    if remote.is_local() {
        client = client.no_proxy();
    }
    client.build().map_err(FetchError::Client)
}
