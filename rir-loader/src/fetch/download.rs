//! Bytes over HTTP, in as many pieces as it takes.

use reqwest::header::{CONTENT_RANGE, HeaderMap, IF_RANGE, RANGE};
use reqwest::{Client, Response, StatusCode};

use super::Patience;
use super::edition::Edition;
use super::error::FetchError;
use super::mirror::Remote;
use super::partial::Partial;
use super::tries::{Tries, Trouble};
use crate::watch::{Step, Watch};

/// Most bytes of a file. The largest has about 30 million today.
const LARGEST: u64 = 1 << 30;

/// Brings the unfinished file to its end; `None` when the edition at hand is the newest. On an
/// error the bytes stay there for another time.
pub(super) async fn download(
    client: &Client,
    remote: &Remote,
    mut part: Partial,
    at_hand: Option<&Edition>,
    patience: Patience,
    watch: Watch<'_>,
) -> Result<Option<Partial>, FetchError> {
    let mut tries = Tries::new(remote.url().clone(), patience, watch);
    loop {
        let outcome = piece(client, remote, &mut part, at_hand, watch).await;
        part.flush().await?;
        match outcome {
            Ok(Got::All) => return Ok(Some(part)),
            Ok(Got::NothingNew) => return part.discard().await.map(|()| None),
            Err(trouble) => tries.again(trouble).await?,
        }
    }
}

/// What came of a request.
enum Got {
    All,
    NothingNew,
}

/// One request: for the rest when there is a beginning (RFC 9110, section 14), else for all.
async fn piece(
    client: &Client,
    remote: &Remote,
    part: &mut Partial,
    at_hand: Option<&Edition>,
    watch: Watch<'_>,
) -> Result<Got, Trouble> {
    let mut request = client.get(remote.url().clone());
    if let Some(edition) = part.edition() {
        request = request.header(RANGE, format!("bytes={}-", part.len())).header(IF_RANGE, edition);
    } else if let Some(edition) = at_hand {
        request = edition.condition(request);
    }
    let response = request.send().await.map_err(Trouble::Request)?;
    let headers = response.headers();
    match response.status() {
        StatusCode::OK => part.restart(Some(headers)).await?,
        StatusCode::PARTIAL_CONTENT
            if content_range_is(headers, |range| goes_on(range, part.len())) => {}
        StatusCode::RANGE_NOT_SATISFIABLE
            if content_range_is(headers, |range| ends_at(range, part.len())) =>
        {
            return Ok(Got::All);
        }
        StatusCode::NOT_MODIFIED if at_hand.is_some() => return Ok(Got::NothingNew),
        StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => {
            part.restart(None).await?;
            return Err(Trouble::Stale);
        }
        _ => return Err(Trouble::status(&response)),
    }
    receive(response, remote, part, watch).await.map(|()| Got::All)
}

async fn receive(
    mut response: Response,
    remote: &Remote,
    part: &mut Partial,
    watch: Watch<'_>,
) -> Result<(), Trouble> {
    let bytes = response.content_length().map(|more| part.len().saturating_add(more));
    refuse_too_large(remote, bytes.unwrap_or(0))?;
    watch(Step::File { name: remote.name(), bytes, there: part.len() });
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                refuse_too_large(remote, part.len() + chunk.len() as u64)?;
                part.append(&chunk).await?;
                watch(Step::Bytes(chunk.len() as u64));
            }
            Ok(None) => return Ok(()),
            Err(source) => return Err(Trouble::Body { got: part.len(), source }),
        }
    }
}

fn refuse_too_large(remote: &Remote, bytes: u64) -> Result<(), FetchError> {
    let too_large = || FetchError::TooLarge { url: remote.url().to_string(), limit: LARGEST };
    if bytes > LARGEST { Err(too_large()) } else { Ok(()) }
}

fn content_range_is(headers: &HeaderMap, right: impl Fn(&str) -> bool) -> bool {
    headers.get(CONTENT_RANGE).and_then(|value| value.to_str().ok()).is_some_and(right)
}

/// `bytes 100-199/200` goes on after 100 bytes.
fn goes_on(content_range: &str, len: u64) -> bool {
    let rest = content_range.strip_prefix("bytes ").and_then(|range| range.split_once('-'));
    rest.is_some_and(|(first, _)| first.trim().parse() == Ok(len))
}

/// `bytes */200` says that 200 bytes are all there is.
fn ends_at(content_range: &str, len: u64) -> bool {
    content_range.strip_prefix("bytes */").is_some_and(|all| all.trim().parse() == Ok(len))
}
