//! Downloads a file over HTTP, continuing an unfinished download.

use reqwest::header::{CONTENT_RANGE, HeaderMap, IF_RANGE, RANGE};
use reqwest::{Response, StatusCode};

use super::Transfer;
use super::error::FetchError;
use super::partial::PartialDownload;
use super::retry::Retries;
use super::validator::Validator;
use crate::progress::Step;

/// Largest accepted file in bytes. The largest published one has about 300 million.
const MAX_BYTES: u64 = 1 << 30;

/// Result of a request.
enum Outcome {
    Complete,
    NotModified,
}

impl Transfer<'_> {
    /// Completes the unfinished file; `None` when the local edition is the newest. After an error
    /// the bytes stay for another attempt.
    pub(super) async fn download(
        &self,
        mut part: PartialDownload,
        local: Option<&Validator>,
    ) -> Result<Option<PartialDownload>, FetchError> {
        let mut retries = Retries::new(self.retry, self.progress);
        loop {
            let result = self.request(&mut part, local).await;
            part.flush().await?;
            match result {
                Ok(Outcome::Complete) => return Ok(Some(part)),
                Ok(Outcome::NotModified) => return part.discard().await.map(|()| None),
                Err(error) => retries.wait(error).await?,
            }
        }
    }

    /// Requests the rest of an unfinished file (RFC 9110, section 14), or the whole file.
    async fn request(
        &self,
        part: &mut PartialDownload,
        local: Option<&Validator>,
    ) -> Result<Outcome, FetchError> {
        let url = self.remote.url();
        let mut request = self.client.get(url.clone());
        if let Some(validator) = part.validator() {
            let range = format!("bytes={}-", part.len());
            request = request.header(RANGE, range).header(IF_RANGE, validator);
        } else if let Some(validator) = local {
            request = validator.add_condition(request);
        }
        let response = request.send().await;
        let response = response.map_err(|source| FetchError::unreachable(url, source))?;
        let headers = response.headers();
        match response.status() {
            // Also the answer where the server has a new edition, or ignores ranges.
            StatusCode::OK => part.restart(Some(headers)).await?,
            StatusCode::PARTIAL_CONTENT if starts_at(headers, part.len()) => {}
            // The file was complete already when an earlier run was stopped.
            StatusCode::RANGE_NOT_SATISFIABLE if has_length(headers, part.len()) => {
                return Ok(Outcome::Complete);
            }
            StatusCode::NOT_MODIFIED if local.is_some() => return Ok(Outcome::NotModified),
            StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => {
                part.restart(None).await?;
                return Err(FetchError::Changing { url: url.to_string() });
            }
            _ => return Err(FetchError::status(url, &response)),
        }
        self.receive(response, part).await.map(|()| Outcome::Complete)
    }

    async fn receive(
        &self,
        mut response: Response,
        part: &mut PartialDownload,
    ) -> Result<(), FetchError> {
        let bytes = response.content_length().map(|rest| part.len().saturating_add(rest));
        self.check_size(bytes.unwrap_or(0))?;
        let name = self.remote.name();
        (self.progress)(Step::File { name, bytes, present: part.len() });
        loop {
            let chunk = response.chunk().await;
            let got = part.len();
            let error = |source| FetchError::broken_off(self.remote.url(), got, source);
            let Some(chunk) = chunk.map_err(error)? else { return Ok(()) };
            self.check_size(got + chunk.len() as u64)?;
            part.append(&chunk).await?;
            (self.progress)(Step::Bytes(chunk.len() as u64));
        }
    }

    fn check_size(&self, bytes: u64) -> Result<(), FetchError> {
        if bytes <= MAX_BYTES {
            return Ok(());
        }
        Err(FetchError::TooLarge { url: self.remote.url().to_string(), limit: MAX_BYTES })
    }
}

fn content_range(headers: &HeaderMap) -> &str {
    headers.get(CONTENT_RANGE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Whether `Content-Range: bytes 100-199/200` starts after this many bytes.
fn starts_at(headers: &HeaderMap, length: u64) -> bool {
    let range = content_range(headers).strip_prefix("bytes ");
    let first = range.and_then(|range| range.split_once('-')).map(|(first, _)| first.trim());
    first.is_some_and(|first| first.parse() == Ok(length))
}

/// Whether `Content-Range: bytes */200` names a file of this many bytes.
fn has_length(headers: &HeaderMap, length: u64) -> bool {
    let all = content_range(headers).strip_prefix("bytes */");
    all.is_some_and(|all| all.trim().parse() == Ok(length))
}
