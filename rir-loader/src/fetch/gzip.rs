//! Checks a gzip file against the checksum and the length stored at its end (RFC 1952, section
//! 2.3.1).

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::error::FetchError;

/// The error of unpacking the file; `None` when it unpacks to its end.
pub(super) async fn find_damage(path: &Path) -> Result<Option<String>, FetchError> {
    let file = path.to_owned();
    let unpacked = tokio::task::spawn_blocking(move || {
        io::copy(&mut MultiGzDecoder::new(File::open(file)?), &mut io::sink())
    });
    match unpacked.await.map_err(io::Error::other).flatten() {
        Ok(_) => Ok(None),
        Err(error) if is_damage(error.kind()) => Ok(Some(error.to_string())),
        Err(error) => Err(FetchError::disk("read", path)(error)),
    }
}

fn is_damage(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof)
}
