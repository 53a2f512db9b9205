//! Entries whose texts are borrowed: what a package is made of, and how an entry is stored until it
//! is packed.
//!
//! An entry is stored in the postcard format, so that it is written and read without memory for
//! each of its texts.

use std::net::IpAddr;

use model::{ErrorKind, UnixMillis};
use serde::{Deserialize, Serialize};

use crate::page::{
    DisallowedBy, Discovered, Entry, Failure, Fetch, Link, Outcome, Page, Timing, Trend,
};

/// Memory of a value without its texts, in bytes.
const VALUE_BYTES: usize = 64;

/// An entry whose texts are borrowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum EntryRef<'a> {
    /// A fetch that ended.
    #[serde(borrow)]
    Fetch(Box<FetchRef<'a>>),
    /// A URL of a host that is not the agent's.
    Discovered(DiscoveredRef<'a>),
}

/// A [`Discovered`] whose text is borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DiscoveredRef<'a> {
    pub(super) url: &'a str,
    pub(super) redirects: u8,
    pub(super) handed_back: bool,
}

/// A [`Fetch`] whose texts are borrowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FetchRef<'a> {
    pub(super) url: &'a str,
    pub(super) fetched_at: UnixMillis,
    pub(super) address: Option<IpAddr>,
    pub(super) timing: Option<Timing>,
    pub(super) wire_bytes: u64,
    #[serde(borrow)]
    pub(super) outcome: OutcomeRef<'a>,
    pub(super) trend: TrendRef,
}

/// A [`Trend`] in a form that the postcard format can have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum TrendRef {
    None,
    Usual,
    Slow,
    Slower(f64),
}

/// An [`Outcome`] whose texts are borrowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum OutcomeRef<'a> {
    #[serde(borrow)]
    Page(PageRef<'a>),
    Redirect {
        status: u16,
        location: &'a str,
    },
    Other {
        status: u16,
        media_type: Option<&'a str>,
    },
    Disallowed(DisallowedBy),
    Unchanged(u16),
    Failed {
        cause: ErrorKind,
        reason: &'a str,
    },
}

/// A [`Page`] whose texts are borrowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PageRef<'a> {
    pub(super) status: u16,
    pub(super) media_type: &'a str,
    pub(super) charset: &'a str,
    pub(super) lang: Option<&'a str>,
    pub(super) title: &'a str,
    pub(super) text: &'a str,
    pub(super) sha256: [u8; 32],
    pub(super) canonical: Option<&'a str>,
    #[serde(borrow)]
    pub(super) links: Vec<LinkRef<'a>>,
    pub(super) headings: &'a str,
}

/// A [`Link`] whose texts are borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct LinkRef<'a> {
    pub(super) url: &'a str,
    pub(super) anchor: &'a str,
    pub(super) nofollow: bool,
    pub(super) ugc: bool,
    pub(super) sponsored: bool,
}

/// An entry as bytes, for storage until it is packed.
pub fn encode_entry(entry: &Entry) -> Vec<u8> {
    let entry = EntryRef::from(entry);
    // Room for all texts and lengths, so that the bytes are rarely moved.
    let bytes = Vec::with_capacity(entry.size());
    // Fails only for types of unknown length or a full buffer; an entry has neither.
    postcard::to_extend(&entry, bytes).unwrap_or_default()
}

impl EntryRef<'_> {
    /// Takes the memory of the entry from a budget; false where it is too small.
    pub(super) fn charge(&self, budget: &mut u64) -> bool {
        let rest = budget.checked_sub(self.size() as u64);
        *budget = rest.unwrap_or(*budget);
        rest.is_some()
    }

    /// Approximate memory of the entry if it owned its texts, in bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Fetch(fetch) => fetch.size(),
            Self::Discovered(found) => found.size(),
        }
    }
}

impl<'a> EntryRef<'a> {
    /// The entry that [`encode_entry`] wrote.
    pub fn read(bytes: &'a [u8]) -> Result<Self, postcard::Error> {
        match postcard::take_from_bytes(bytes)? {
            (entry, []) => Ok(entry),
            _ => Err(postcard::Error::DeserializeBadEncoding),
        }
    }

    /// The same fetch, failed for this reason; other entries stay.
    #[must_use]
    pub fn failed(self, cause: ErrorKind, reason: &'a str) -> Self {
        match self {
            Self::Fetch(mut fetch) => {
                fetch.outcome = OutcomeRef::Failed { cause, reason };
                Self::Fetch(fetch)
            }
            Self::Discovered(_) => self,
        }
    }
}

impl<'a> From<&'a Entry> for EntryRef<'a> {
    fn from(entry: &'a Entry) -> Self {
        match entry {
            Entry::Fetch(fetch) => Self::Fetch(Box::new(FetchRef::of(fetch))),
            Entry::Discovered(found) => Self::Discovered(DiscoveredRef::of(found)),
        }
    }
}

impl<'a> DiscoveredRef<'a> {
    fn of(found: &'a Discovered) -> Self {
        let Discovered { url, redirects, handed_back } = found;
        Self { url, redirects: *redirects, handed_back: *handed_back }
    }

    pub(super) fn size(&self) -> usize {
        VALUE_BYTES + self.url.len()
    }
}

impl<'a> FetchRef<'a> {
    fn of(fetch: &'a Fetch) -> Self {
        let Fetch { url, fetched_at, address, timing, wire_bytes, outcome, trend } = fetch;
        Self {
            url,
            fetched_at: *fetched_at,
            address: *address,
            timing: *timing,
            wire_bytes: *wire_bytes,
            outcome: OutcomeRef::of(outcome),
            trend: TrendRef::of(*trend),
        }
    }

    pub(super) fn size(&self) -> usize {
        let content = match &self.outcome {
            OutcomeRef::Page(page) => page.size(),
            OutcomeRef::Redirect { location: text, .. }
            | OutcomeRef::Failed { reason: text, .. } => text.len(),
            OutcomeRef::Other { media_type, .. } => media_type.map_or(0, str::len),
            OutcomeRef::Disallowed(_) | OutcomeRef::Unchanged(_) => 0,
        };
        2 * VALUE_BYTES + self.url.len() + content
    }
}

impl TrendRef {
    fn of(trend: Option<Trend>) -> Self {
        match trend {
            None => Self::None,
            Some(Trend::Usual) => Self::Usual,
            Some(Trend::Slow) => Self::Slow,
            Some(Trend::Slower { ratio }) => Self::Slower(ratio),
        }
    }
}

impl<'a> OutcomeRef<'a> {
    fn of(outcome: &'a Outcome) -> Self {
        match outcome {
            Outcome::Page(page) => Self::Page(PageRef::of(page)),
            Outcome::Redirect { status, location } => Self::Redirect { status: *status, location },
            Outcome::Other { status, media_type } => {
                Self::Other { status: *status, media_type: media_type.as_deref() }
            }
            Outcome::Disallowed { by } => Self::Disallowed(*by),
            Outcome::Unchanged { status } => Self::Unchanged(*status),
            Outcome::Failed(Failure { cause, reason }) => Self::Failed { cause: *cause, reason },
        }
    }
}

impl<'a> PageRef<'a> {
    fn of(page: &'a Page) -> Self {
        Self {
            status: page.status,
            media_type: &page.media_type,
            charset: &page.charset,
            lang: page.lang.as_deref(),
            title: &page.title,
            text: &page.text,
            sha256: page.sha256.0,
            canonical: page.canonical.as_deref(),
            links: page.links.iter().map(LinkRef::of).collect(),
            headings: &page.headings,
        }
    }

    fn size(&self) -> usize {
        let Self { media_type, charset, lang, title, text, canonical, links, headings, .. } = self;
        let optional = |text: Option<&str>| text.map_or(0, str::len);
        let texts = media_type.len() + charset.len() + title.len() + text.len() + headings.len();
        let links: usize =
            links.iter().map(|link| VALUE_BYTES + link.url.len() + link.anchor.len()).sum();
        2 * VALUE_BYTES + texts + optional(*lang) + optional(*canonical) + links
    }
}

impl<'a> LinkRef<'a> {
    fn of(link: &'a Link) -> Self {
        let Link { url, anchor, nofollow, ugc, sponsored } = link;
        Self { url, anchor, nofollow: *nofollow, ugc: *ugc, sponsored: *sponsored }
    }
}
