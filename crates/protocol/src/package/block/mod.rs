//! Blocks: the unit of a package's body. A block holds fetches of one host, or discovered URLs, as
//! columns, so that values of a kind stand side by side and compress well.
//!
//! A block is written by `postcard`, whose format is specified. Lengths and differences are
//! variable-length integers; an unchanged page takes some ten bytes.

mod columns;
mod decode;
mod encode;

use std::net::IpAddr;

use model::{ErrorKind, url::MAX_BYTES};
use serde::{Deserialize, Serialize};

use crate::{limits, page::DisallowedBy, page::Trend};
use columns::{Differences, SortedTexts, Texts};

pub(super) use decode::decode;
pub(super) use encode::blocks;

/// Why a block cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BlockError {
    /// The bytes are no block.
    #[error("the bytes are no block")]
    Format(#[source] postcard::Error),
    /// The columns do not agree with each other.
    #[error("its columns do not agree with each other")]
    Column,
    /// The host of a block is longer than any URL.
    #[error("a host of {0} bytes; the limit is {MAX_BYTES}")]
    Host(usize),
    /// A page has more links than [`limits::PAGE_LINKS`].
    #[error("a page with {0} links; the limit is {max}", max = limits::PAGE_LINKS)]
    Links(u32),
    /// A block has more entries than [`limits::PACKAGE_ENTRIES`].
    #[error("a block with {0} entries; the limit is {max}", max = limits::PACKAGE_ENTRIES)]
    Entries(usize),
    /// The entries of the package take more memory than [`limits::PACKAGE_PLAIN_BYTES`].
    #[error("the entries take more than {max} bytes", max = limits::PACKAGE_PLAIN_BYTES)]
    Expands,
}

/// A block as it is written.
#[derive(Debug, Serialize, Deserialize)]
enum Block {
    Fetches(Box<Fetches>),
    Discovered(Discoveries),
}

/// Fetches of one host, sorted by URL; fetches of the same URL keep their order.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Fetches {
    /// Scheme and authority; empty for texts that are no URLs.
    host: String,
    /// The rest of each URL.
    paths: SortedTexts,
    /// Start of each fetch, in milliseconds since 1970.
    fetched_at: Differences,
    /// The addresses that were contacted.
    addresses: Vec<IpAddr>,
    /// Number of each fetch's address from 1; 0 where nothing was sent.
    address: Vec<u32>,
    wire_bytes: Vec<u64>,
    has_timing: Vec<bool>,
    timings: Timings,
    outcomes: Vec<OutcomeKind>,
    /// Status of each redirect, other document and unchanged page.
    status: Vec<u16>,
    trends: Vec<TrendKind>,
    slowdowns: Vec<f64>,
    /// Cause of each failure.
    causes: Vec<ErrorKind>,
    /// Target of each redirect, media type of each other document, reason of each failure.
    details: Texts,
    pages: Pages,
}

/// Durations in microseconds of the fetches that have them.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Timings {
    connect: Vec<u32>,
    /// The same for all fetches over one connection.
    tcp: Differences,
    first_byte: Vec<u32>,
    /// From the first byte to the end.
    rest: Vec<i64>,
}

/// Content of the fetches that brought a page.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Pages {
    status: Vec<u16>,
    media_types: Texts,
    charsets: Texts,
    /// Empty when unknown.
    languages: Texts,
    sha256: Vec<[u8; 32]>,
    titles: Texts,
    /// Empty where the page names no canonical URL.
    canonical: Texts,
    /// Most characters of a snippet of each page.
    max_snippet: Vec<Option<u32>>,
    /// Number of links of each page.
    link_count: Vec<u32>,
    /// Flags of each link: 1 for a link within the host, 2 nofollow, 4 ugc, 8 sponsored.
    link_flags: Vec<u8>,
    /// Target of each link, without scheme and authority where they are those of the block.
    link_targets: Texts,
    anchors: Texts,
    texts: Texts,
    headings: Texts,
}

/// Discovered URLs, sorted.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Discoveries {
    urls: SortedTexts,
    redirects: Vec<u8>,
    handed_back: Vec<bool>,
}

/// Kind of an outcome. The order is part of the format: new kinds go to the end.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum OutcomeKind {
    Page,
    Redirect,
    Untyped,
    Other,
    RobotsTxt,
    NoIndex,
    Unchanged,
    Failed,
}

/// Kind of a trend. The order is part of the format.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum TrendKind {
    None,
    Usual,
    Slow,
    Slower,
}

impl OutcomeKind {
    fn of_disallowed(by: DisallowedBy) -> Self {
        match by {
            DisallowedBy::RobotsTxt => Self::RobotsTxt,
            DisallowedBy::NoIndex => Self::NoIndex,
        }
    }
}

impl TrendKind {
    fn of(trend: Option<Trend>) -> Self {
        match trend {
            None => Self::None,
            Some(Trend::Usual) => Self::Usual,
            Some(Trend::Slow) => Self::Slow,
            Some(Trend::Slower { .. }) => Self::Slower,
        }
    }
}

mod flag {
    pub(super) const SAME_HOST: u8 = 1;
    pub(super) const NOFOLLOW: u8 = 2;
    pub(super) const UGC: u8 = 4;
    pub(super) const SPONSORED: u8 = 8;
}
