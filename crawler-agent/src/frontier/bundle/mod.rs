//! Host bundle: everything that the frontier knows of one host, as one unit that another agent can
//! take over.
//!
//! Version 2 of the format: [`MAGIC`], then one Zstandard frame with a checksum. The frame contains
//! [`columns::Columns`] in the postcard format: first the host itself, then each field of the
//! queue's URLs and of the pages as a column, which compresses better than row by row. Fingerprints
//! are listed only of URLs that are neither queued nor pages: those of the others follow from their
//! paths.
//!
//! A bundle may come from another organisation's agent. Reading checks that every URL belongs to
//! the host and is in its normal form, that columns have equal lengths, that times are times, and
//! that validators can be sent to a server. Rules of robots.txt are not part of it: the next agent
//! answers for its requests itself, and reads them again with one.

mod columns;
mod planes;
#[cfg(test)]
mod tests;

use std::io::Read as _;

use model::{CrawlUrl, UnixMillis};

use super::{HostRecord, PageRecord, QueuedUrl};
use columns::Columns;

/// First bytes of a bundle; the digit is the version of the format.
const MAGIC: &[u8; 7] = b"nchb 2\n";
/// Level of compression.
const ZSTD_LEVEL: i32 = 3;
/// Largest window of compression that a reader allocates, as a power of two.
const ZSTD_WINDOW: u32 = 23;
/// Largest content, in bytes.
const MAX_PLAIN_BYTES: u64 = 64 << 20;
/// Most URLs of one bundle: queued, pages and others together.
pub(super) const MAX_URLS: usize = 100_000;

/// Everything that the frontier knows of one host.
#[derive(Debug, Clone, PartialEq)]
pub struct HostBundle {
    /// Scheme and authority, next request, URLs so far, and failures.
    pub record: HostRecord,
    /// The queue, in its order.
    pub queue: Vec<QueuedUrl>,
    /// Pages with the times of their last visits, in the order in which they are visited again.
    pub pages: Vec<(UnixMillis, PageRecord)>,
    /// Fingerprints of further URLs that were queued before and must not be queued again.
    pub seen: Vec<u64>,
}

/// Why bytes are no bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The first bytes are not those of a bundle.
    #[error("it does not begin as a host bundle of version 2")]
    Magic,
    /// The content cannot be decompressed, or is too large.
    #[error("its content cannot be decompressed")]
    Compression(#[source] std::io::Error),
    /// The content has another form.
    #[error("its content is damaged")]
    Content(#[source] postcard::Error),
    /// The columns of one table have different lengths.
    #[error("its {0} have columns of different lengths")]
    Columns(&'static str),
    /// The content is larger than any reader takes.
    #[error("it is larger than any bundle")]
    TooLarge,
    /// There are more URLs than any sender puts into a bundle.
    #[error("it has more than {MAX_URLS} URLs")]
    TooManyUrls,
    /// The host is none.
    #[error("{0:?} is no host")]
    Host(String),
    /// The times of a page are impossible.
    #[error("the times of {0:?} are impossible")]
    Times(String),
}

impl HostBundle {
    pub fn encode(&self) -> Result<Vec<u8>, BundleError> {
        let plain =
            postcard::to_allocvec(&Columns::of_bundle(self)).map_err(BundleError::Content)?;
        // Every reader would refuse it.
        if plain.len() as u64 > MAX_PLAIN_BYTES {
            return Err(BundleError::TooLarge);
        }
        let mut compressor =
            zstd::bulk::Compressor::new(ZSTD_LEVEL).map_err(BundleError::Compression)?;
        compressor.include_checksum(true).map_err(BundleError::Compression)?;
        let frame = compressor.compress(&plain).map_err(BundleError::Compression)?;
        Ok([MAGIC.as_slice(), &frame].concat())
    }

    /// Decodes a bundle that may come from any agent.
    pub fn decode(bytes: &[u8]) -> Result<Self, BundleError> {
        let frame = bytes.strip_prefix(MAGIC.as_slice()).ok_or(BundleError::Magic)?;
        let plain = decompress(frame).map_err(BundleError::Compression)?;
        let columns: Columns = postcard::from_bytes(&plain).map_err(BundleError::Content)?;
        columns.into_bundle()
    }

    /// The bundle without what the former agent fetched: its pages have no content, so that the
    /// next agent fetches them, and links bring back the URLs that did not become pages.
    #[must_use]
    pub fn forget_fetched(self) -> Self {
        let forget = |(visited, page): (UnixMillis, PageRecord)| (visited, page.forget_content());
        // Only the pages say that it was reached before its failures: it is not given up.
        let failures = if self.is_given_up() { self.record.failures } else { 0 };
        let record = HostRecord { failures, ..self.record };
        let pages = self.pages.into_iter().map(forget).collect();
        Self { record, pages, seen: Vec::new(), ..self }
    }

    pub fn urls(&self) -> usize {
        self.queue.len() + self.pages.len() + self.seen.len()
    }
}

fn decompress(frame: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut decoder = zstd::Decoder::with_buffer(frame)?;
    // The window is a promise of the sender, and memory of the reader.
    decoder.window_log_max(ZSTD_WINDOW)?;
    let mut plain = Vec::new();
    decoder.single_frame().take(MAX_PLAIN_BYTES + 1).read_to_end(&mut plain)?;
    if plain.len() as u64 > MAX_PLAIN_BYTES {
        return Err(std::io::Error::other("it is larger than any bundle"));
    }
    Ok(plain)
}

/// Whether a path is one of this host in its normal form. The rules of URLs change from version to
/// version, so that a bundle of another agent may have paths that are none here: they are left out.
pub(super) fn is_path_of(host: &str, path: &str) -> bool {
    CrawlUrl::parse(&format!("{host}{path}"))
        .is_ok_and(|url| url.host_key_str() == host && url.path_and_query() == path)
}
