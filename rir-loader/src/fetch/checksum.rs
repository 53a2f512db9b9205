//! MD5 sums: the registries publish no other beside their files. They guard against damage, not
//! against forgery; https does.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use data_encoding::HEXLOWER;
use md5::{Digest, Md5};
use reqwest::{Client, Url};

use super::Patience;
use super::error::FetchError;
use super::mirror::{Proof, Remote};
use super::tries::{Tries, Trouble};
use crate::watch::Watch;

/// Digits of a sum.
const DIGITS: usize = 32;
/// A checksum file has one line; anything much longer is something else.
const LONGEST: usize = 16 * 1024;

/// The sum that the registry publishes, in lower case; `None` where it need not and does not.
pub(super) async fn published(
    client: &Client,
    remote: &Remote,
    patience: Patience,
    watch: Watch<'_>,
) -> Result<Option<String>, FetchError> {
    match (asked_for(client, remote, patience, watch).await, remote.proof()) {
        (Err(FetchError::Status { status, .. }), Proof::Packed) if status.is_client_error() => {
            Ok(None)
        }
        (Err(FetchError::NoChecksum { .. }), Proof::Packed) => Ok(None),
        (outcome, _) => outcome.map(Some),
    }
}

async fn asked_for(
    client: &Client,
    remote: &Remote,
    patience: Patience,
    watch: Watch<'_>,
) -> Result<String, FetchError> {
    let url = remote.checksum_url();
    let mut tries = Tries::new(url.clone(), patience, watch);
    loop {
        match text(client, &url).await {
            Ok(text) => {
                return checksum_in(&text)
                    .ok_or_else(|| FetchError::NoChecksum { url: url.to_string() });
            }
            Err(trouble) => tries.again(trouble).await?,
        }
    }
}

async fn text(client: &Client, url: &Url) -> Result<String, Trouble> {
    let mut response = client.get(url.clone()).send().await.map_err(Trouble::Request)?;
    if !response.status().is_success() {
        return Err(Trouble::status(&response));
    }
    let mut bytes = vec![];
    while let Some(chunk) = response.chunk().await.map_err(Trouble::Request)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LONGEST {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The MD5 sum in a checksum file, in lower case: the first word that is one. `MD5 (name) = sum`
/// and `sum  name` are both in use.
pub fn checksum_in(text: &str) -> Option<String> {
    let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let sum = words
        .find(|word| word.len() == DIGITS && word.bytes().all(|byte| byte.is_ascii_hexdigit()));
    sum.map(str::to_ascii_lowercase)
}

/// The sum of a file.
pub(super) async fn of_file(path: &Path) -> Result<String, FetchError> {
    let file = path.to_owned();
    let summed = tokio::task::spawn_blocking(move || sum(&file)).await;
    summed.map_err(io::Error::other).and_then(|sum| sum).map_err(FetchError::disk("read", path))
}

fn sum(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Md5::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(HEXLOWER.encode(&hasher.finalize())),
            read => hasher.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_in_use_are_read() {
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
