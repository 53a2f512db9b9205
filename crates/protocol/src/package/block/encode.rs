//! Entries → the blocks of a body.

use std::collections::HashMap;
use std::net::IpAddr;
use std::ops::Deref;

use super::{Block, Discoveries, Fetches, OutcomeKind, TrendKind, flag};
use crate::page::{Discovered, Entry, Failure, Fetch, Link, Outcome, Page, Timing, Trend};

/// Size after which a block is closed, in bytes of its entries. A reader holds one block at a time.
const BLOCK_BYTES: usize = 1 << 20;

/// The blocks of entries, as bytes: a host after another, then the discovered URLs.
pub(in crate::package) fn blocks(entries: &[Entry<impl Deref<Target = str>>]) -> Vec<Vec<u8>> {
    let mut fetches: Vec<&Fetch<_>> = Vec::new();
    let mut discovered: Vec<&Discovered<_>> = Vec::new();
    for entry in entries {
        match entry {
            Entry::Fetch(fetch) => fetches.push(fetch),
            Entry::Discovered(found) => discovered.push(found),
        }
    }
    // Stable, so that the last fetch of a URL remains the last.
    fetches.sort_by(|a, b| a.url.cmp(&b.url));
    discovered.sort_by(|a, b| a.url.cmp(&b.url));
    let mut blocks = Vec::new();
    for group in fetches.chunk_by(|a, b| host_of(&a.url) == host_of(&b.url)) {
        for part in parts(group, Fetch::size) {
            blocks.push(bytes(&Block::Fetches(Box::new(of_fetches(part)))));
        }
    }
    for part in parts(&discovered, Discovered::size) {
        blocks.push(bytes(&Block::Discovered(of_discovered(part))));
    }
    blocks
}

/// Consecutive parts of at most [`BLOCK_BYTES`], or of one larger item.
fn parts<'s, 't, T>(items: &'s [&'t T], size: impl Fn(&T) -> usize) -> Vec<&'s [&'t T]> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut total = 0;
    for (at, item) in items.iter().enumerate() {
        let next = size(item);
        if at > start && total + next > BLOCK_BYTES {
            parts.push(&items[start..at]);
            start = at;
            total = 0;
        }
        total += next;
    }
    if start < items.len() {
        parts.push(&items[start..]);
    }
    parts
}

fn bytes(block: &Block) -> Vec<u8> {
    // Fails only for types of unknown length or a full buffer; a block has neither.
    postcard::to_allocvec(block).unwrap_or_default()
}

/// Scheme and authority of a URL; empty for a text without them.
fn host_of(url: &str) -> &str {
    let start = url.find("://").map(|at| at + "://".len());
    let Some(start) = start else { return "" };
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    &url[..end]
}

fn of_fetches(fetches: &[&Fetch<impl Deref<Target = str>>]) -> Fetches {
    let host = fetches.first().map_or("", |fetch| host_of(&fetch.url));
    let mut block = Fetches { host: host.to_owned(), ..Fetches::default() };
    let mut addresses = HashMap::new();
    let mut before = "";
    for fetch in fetches {
        let path = &fetch.url[host.len()..];
        block.paths.push(before, path);
        before = path;
        block.push(fetch, &mut addresses);
    }
    block
}

impl Fetches {
    /// Adds a fetch. `numbers` are those of the block's addresses.
    fn push(
        &mut self,
        fetch: &Fetch<impl Deref<Target = str>>,
        numbers: &mut HashMap<IpAddr, u32>,
    ) {
        self.fetched_at.push(fetch.fetched_at.0);
        let address = fetch.address.map_or(0, |address| {
            *numbers.entry(address).or_insert_with(|| {
                self.addresses.push(address);
                self.addresses.len() as u32
            })
        });
        self.address.push(address);
        self.wire_bytes.push(fetch.wire_bytes);
        self.has_timing.push(fetch.timing.is_some());
        if let Some(timing) = fetch.timing {
            self.timings.push(timing);
        }
        self.trends.push(TrendKind::of(fetch.trend));
        if let Some(Trend::Slower { ratio }) = fetch.trend {
            self.slowdowns.push(ratio);
        }
        self.push_outcome(&fetch.outcome);
    }

    fn push_outcome(&mut self, outcome: &Outcome<impl Deref<Target = str>>) {
        let (kind, status, detail) = match outcome {
            Outcome::Page(page) => {
                self.pages.push(page, &self.host);
                (OutcomeKind::Page, None, None)
            }
            Outcome::Redirect { status, location } => {
                (OutcomeKind::Redirect, Some(*status), Some(location))
            }
            Outcome::Other { status, media_type: None } => {
                (OutcomeKind::Untyped, Some(*status), None)
            }
            Outcome::Other { status, media_type } => {
                (OutcomeKind::Other, Some(*status), media_type.as_ref())
            }
            Outcome::Disallowed { by } => (OutcomeKind::of_disallowed(*by), None, None),
            Outcome::Unchanged { status } => (OutcomeKind::Unchanged, Some(*status), None),
            Outcome::Failed(Failure { cause, reason }) => {
                self.causes.push(*cause);
                (OutcomeKind::Failed, None, Some(reason))
            }
        };
        self.outcomes.push(kind);
        self.status.extend(status);
        if let Some(detail) = detail {
            self.details.push(detail);
        }
    }
}

impl super::Timings {
    fn push(&mut self, timing: Timing) {
        self.connect.push(timing.connect_us);
        self.tcp.push(timing.tcp_us.into());
        self.first_byte.push(timing.first_byte_us);
        self.rest.push(i64::from(timing.total_us) - i64::from(timing.first_byte_us));
    }
}

impl super::Pages {
    fn push(&mut self, page: &Page<impl Deref<Target = str>>, host: &str) {
        self.status.push(page.status);
        self.media_types.push(&page.media_type);
        self.charsets.push(&page.charset);
        self.languages.push(page.lang.as_deref().unwrap_or_default());
        self.sha256.push(page.sha256.0);
        self.titles.push(&page.title);
        self.canonical.push(page.canonical.as_deref().unwrap_or_default());
        self.max_snippet.push(page.max_snippet);
        self.texts.push(&page.text);
        self.headings.push(&page.headings);
        self.link_count.push(page.links.len() as u32);
        for link in &page.links {
            self.push_link(link, host);
        }
    }

    fn push_link(&mut self, link: &Link<impl Deref<Target = str>>, host: &str) {
        let Link { url, anchor, nofollow, ugc, sponsored } = link;
        let is_same = !host.is_empty() && host_of(url) == host;
        let set = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let flags = set(is_same, flag::SAME_HOST)
            | set(*nofollow, flag::NOFOLLOW)
            | set(*ugc, flag::UGC)
            | set(*sponsored, flag::SPONSORED);
        self.link_flags.push(flags);
        self.link_targets.push(if is_same { &url[host.len()..] } else { url });
        self.anchors.push(anchor);
    }
}

fn of_discovered(found: &[&Discovered<impl Deref<Target = str>>]) -> Discoveries {
    let mut block = Discoveries::default();
    let mut before = "";
    for Discovered { url, redirects, handed_back } in found {
        block.urls.push(before, url);
        before = url;
        block.redirects.push(*redirects);
        block.handed_back.push(*handed_back);
    }
    block
}
