//! Whether a packed file is whole: gzip ends with a checksum and the length of what it holds (RFC
//! 1952, section 2.3.1).

use std::fs::File;
use std::io;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::error::FetchError;

/// What is wrong with it; `None` when it unpacks to its end.
pub(super) async fn damage(path: &Path) -> Result<Option<String>, FetchError> {
    let file = path.to_owned();
    let unpacked = tokio::task::spawn_blocking(move || unpack(&file)).await;
    unpacked
        .map_err(io::Error::other)
        .and_then(|outcome| outcome)
        .map_err(FetchError::disk("read", path))
}

fn unpack(path: &Path) -> io::Result<Option<String>> {
    let unpacked = io::copy(&mut MultiGzDecoder::new(File::open(path)?), &mut io::sink());
    match unpacked {
        Err(error) if is_of_content(&error) => Ok(Some(error.to_string())),
        other => other.map(|_| None),
    }
}

fn is_of_content(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}
