//! MD5 checksums: the registries publish no others beside their files. They guard against damage,
//! not against forgery; https does.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use data_encoding::HEXLOWER;
use md5::{Digest, Md5};
use reqwest::Url;

use super::Transfer;
use super::error::FetchError;
use super::mirror::Integrity;
use super::retry::Retries;

/// Hexadecimal digits of an MD5 sum.
const DIGITS: usize = 32;
const BUFFER: usize = 256 * 1024;
/// A checksum file has one line; no more is read of anything longer.
const MAX_BYTES: usize = 16 * 1024;

impl Transfer<'_> {
    /// The checksum that the registry publishes, in lower case; `None` for a dump without one.
    pub(super) async fn published_checksum(&self) -> Result<Option<String>, FetchError> {
        let url = self.remote.checksum_url();
        let mut retries = Retries::new(self.retry, self.progress);
        let text = loop {
            match self.download_text(&url).await {
                Ok(text) => break Ok(text),
                Err(error) => {
                    if let Err(error) = retries.wait(error).await {
                        break Err(error);
                    }
                }
            }
        };
        let is_optional = self.remote.integrity() == Integrity::Gzip;
        match text {
            Ok(text) => match checksum_in(&text) {
                None if !is_optional => Err(FetchError::NoChecksum { url: url.to_string() }),
                checksum => Ok(checksum),
            },
            Err(FetchError::Status { status, .. }) if is_optional && status.is_client_error() => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn download_text(&self, url: &Url) -> Result<String, FetchError> {
        let response = self.client.get(url.clone()).send().await;
        let mut response = response.map_err(|source| FetchError::unreachable(url, source))?;
        if !response.status().is_success() {
            return Err(FetchError::status(url, &response));
        }
        let mut bytes = vec![];
        while let Some(chunk) =
            response.chunk().await.map_err(|source| FetchError::unreachable(url, source))?
        {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_BYTES {
                break;
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The MD5 sum in a checksum file, in lower case: the first word that is one. `MD5 (name) = sum`
/// and `sum  name` are both in use.
fn checksum_in(text: &str) -> Option<String> {
    let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let is_sum =
        |word: &&str| word.len() == DIGITS && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    words.find(is_sum).map(str::to_ascii_lowercase)
}

/// The checksum of a local file.
pub(super) async fn of_file(path: &Path) -> Result<String, FetchError> {
    let file = path.to_owned();
    let sum = tokio::task::spawn_blocking(move || {
        let mut file = BufReader::with_capacity(BUFFER, File::open(file)?);
        let mut hasher = Md5::new();
        loop {
            let bytes = file.fill_buf()?;
            if bytes.is_empty() {
                return Ok(HEXLOWER.encode(&hasher.finalize()));
            }
            hasher.update(bytes);
            let length = bytes.len();
            file.consume(length);
        }
    });
    sum.await.map_err(io::Error::other).flatten().map_err(FetchError::disk("read", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_in_use_are_parsed() {
        let sum = "d41d8cd98f00b204e9800998ecf8427e";
        for text in [
            format!("MD5 (delegated-apnic-extended-20261013) = {sum}\n"),
            format!("{}  delegated-arin-extended-latest\n", sum.to_uppercase()),
            sum.to_owned(),
        ] {
            assert_eq!(checksum_in(&text).as_deref(), Some(sum));
        }
        for none in ["", "<html>404</html>", "d41d8cd98f00b204", &format!("{sum}0")] {
            assert_eq!(checksum_in(none), None);
        }
    }
}
