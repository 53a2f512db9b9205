//! Sitemaps and feeds: the URLs that they list, in one pass (the sitemap protocol, RSS 2.0 and 1.0,
//! Atom by RFC 4287), and when they changed last, as a sitemap states it.
//!
//! Text arrives in pieces, and the parser reads whole texts only. So each piece is parsed after the
//! rest of the last one, up to its last whole event. Entities that a document defines are never
//! expanded.

mod modified;

use htmlize::unescape_attribute;
use model::UnixMillis;
use quick_xml::{
    Reader,
    events::{BytesRef, BytesStart, Event},
};

pub(super) use modified::modified;

use super::references::{Bound, References, Rel};

/// Most URLs that are taken from a list: as many as a sitemap may have by its protocol.
pub(super) const MAX_URLS: usize = 50_000;

/// Most bytes of all URLs of a list: a sixth of the largest sitemap, and 167 for each of 50,000
/// URLs.
pub(super) const URL_BYTES: usize = 8 << 20;

/// Longest tag, text or comment, in bytes. Feeds may have whole articles in a text.
const TOKEN_BYTES: usize = 256 << 10;

/// Longest URL with the white space around it, in bytes.
pub(super) const VALUE_BYTES: usize = 8 << 10;

/// What some documents have more than once, because they were pasted together.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads the URLs of a sitemap or feed as it arrives.
pub(super) struct UrlList {
    /// Text after the last whole event.
    rest: String,
    phase: Phase,
    /// Text of the current element, if it is a URL or a time.
    text: Option<String>,
    /// Whether the current element is the time of a change.
    is_time: bool,
    /// Whether the current element may be a mere identifier.
    is_identifier: bool,
    /// What was read of the current entry of a sitemap.
    entry: SitemapEntry,
    references: References,
}

/// An entry of a sitemap, whose parts may be in any order.
#[derive(Debug, Default)]
struct SitemapEntry {
    /// Whether the last reference is its URL.
    has_url: bool,
    modified: Option<UnixMillis>,
}

enum Phase {
    /// Before the first element.
    Start,
    Reading(Format),
    /// Nothing more is taken: the document is something else, broken, or has too many URLs.
    Ended,
}

/// What the first element says about the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// A sitemap, or an index of sitemaps.
    Sitemap,
    /// RSS in any version.
    Rss,
    Atom,
}

impl UrlList {
    pub(super) fn new() -> Self {
        let most = Bound { count: MAX_URLS, bytes: URL_BYTES };
        let references = References::new(most);
        Self {
            rest: String::new(),
            phase: Phase::Start,
            text: None,
            is_time: false,
            is_identifier: false,
            entry: SitemapEntry::default(),
            references,
        }
    }

    /// Takes the next piece of text.
    pub(super) fn write(&mut self, text: &str) {
        if self.wants_more() {
            // The parser skips a mark at the start of its text without counting it, and every piece
            // is a text of its own. In URLs and names the mark means nothing.
            self.rest.extend(text.split(BYTE_ORDER_MARK));
            self.read(false);
        }
    }

    /// Whether further text can have URLs.
    pub(super) fn wants_more(&self) -> bool {
        !matches!(self.phase, Phase::Ended)
    }

    /// Memory of the list, in bytes.
    pub(super) fn held(&self) -> usize {
        self.rest.capacity() + self.references.held()
    }

    pub(super) fn finish(mut self) -> References {
        self.read(true);
        self.references
    }

    fn read(&mut self, ended: bool) {
        let text = std::mem::take(&mut self.rest);
        let mut reader = Reader::from_str(&text);
        let config = reader.config_mut();
        // Elements may have begun in an earlier piece.
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        let mut done = 0;
        while self.wants_more() {
            let event = reader.read_event();
            let at = reader.buffer_position() as usize;
            match event {
                Ok(Event::Eof) => break,
                // A text may go on in the next piece.
                Ok(Event::Text(_) | Event::GeneralRef(_)) if at == text.len() && !ended => break,
                Ok(event) => self.handle(&event),
                // A tag that is not whole yet looks like one that is broken.
                Err(_) if !ended && text.len() - done <= TOKEN_BYTES => break,
                Err(_) => self.phase = Phase::Ended,
            }
            done = at;
        }
        if text.len().saturating_sub(done) > TOKEN_BYTES {
            self.phase = Phase::Ended;
        }
        if self.wants_more() {
            self.rest = text;
            self.rest.drain(..done);
        }
    }

    fn handle(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(tag) | Event::Empty(tag) => self.start(tag),
            Event::Text(text) => self.add(text),
            Event::CData(text) => self.add(text),
            Event::GeneralRef(reference) => self.add_reference(reference),
            Event::End(tag) => self.end(tag.local_name().into_inner()),
            _ => {}
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>) {
        let format = match self.phase {
            Phase::Reading(format) => format,
            Phase::Ended => return,
            Phase::Start => {
                self.phase = Format::of(tag).map_or(Phase::Ended, Phase::Reading);
                return;
            }
        };
        let name = tag.name().into_inner();
        self.text = None;
        let local_name = tag.local_name().into_inner();
        self.is_time = (format, local_name) == (Format::Sitemap, "lastmod");
        self.is_identifier = (format, name) == (Format::Rss, "guid");
        match (format, name) {
            (Format::Rss, "guid") if attribute(tag, "isPermaLink").is_some_and(is_false) => {}
            (Format::Rss, "link" | "guid") => self.text = Some(String::new()),
            (Format::Sitemap, _) if is_loc(tag) => self.text = Some(String::new()),
            (Format::Sitemap, _) if self.is_time => self.text = Some(String::new()),
            (Format::Sitemap, _) if is_entry(local_name) => self.entry = SitemapEntry::default(),
            (Format::Atom, _) if local_name == "link" && is_page(tag) => {
                self.take(attribute(tag, "href"));
            }
            _ => {}
        }
    }

    fn add(&mut self, text: &str) {
        if let Some(known) = &mut self.text {
            if known.len() + text.len() <= VALUE_BYTES {
                known.push_str(text);
            } else {
                self.text = None;
            }
        }
    }

    fn add_reference(&mut self, reference: &BytesRef<'_>) {
        let name: &str = reference;
        if name.len() <= 32 {
            self.add(&unescape_attribute(format!("&{name};")));
        }
    }

    fn end(&mut self, name: &str) {
        let text = self.text.take();
        if std::mem::take(&mut self.is_time) {
            self.entry.modified = text.and_then(|text| modified(&text));
        } else {
            // Many feeds have identifiers as they are in their database, and do not say so.
            self.take(text.filter(|url| !self.is_identifier || is_absolute(url)));
        }
        if is_entry(name) {
            self.end_entry();
        }
    }

    fn end_entry(&mut self) {
        let SitemapEntry { has_url, modified } = std::mem::take(&mut self.entry);
        if let Some(modified) = modified.filter(|_| has_url) {
            self.references.set_modified(modified);
        }
    }

    fn take(&mut self, url: Option<String>) {
        let url = url.map(|url| url.trim().to_owned()).filter(|url| !url.is_empty());
        if let Some(url) = url {
            self.entry.has_url = self.references.add(url, Rel::default());
        }
        if self.references.is_full() {
            self.phase = Phase::Ended;
        }
    }
}

impl Format {
    fn of(root: &BytesStart<'_>) -> Option<Self> {
        match root.local_name().into_inner() {
            "urlset" | "sitemapindex" => Some(Self::Sitemap),
            "rss" | "RDF" => Some(Self::Rss),
            "feed" => Some(Self::Atom),
            _ => None,
        }
    }
}

/// Whether an element of a sitemap is an entry with a URL and its time.
fn is_entry(name: &str) -> bool {
    matches!(name, "url" | "sitemap")
}

/// Whether the text of an element of a sitemap is the URL of a page: not that of an image or a
/// video, whose elements have prefixes of their own.
fn is_loc(tag: &BytesStart<'_>) -> bool {
    let prefix = tag.name().prefix().map(quick_xml::name::Prefix::into_inner);
    tag.local_name().into_inner() == "loc" && !matches!(prefix, Some("image" | "video" | "news"))
}

/// Whether a link of Atom leads to a page of its entry, or to the next part of the feed.
fn is_page(tag: &BytesStart<'_>) -> bool {
    attribute(tag, "rel").is_none_or(|rel| matches!(rel.as_str(), "alternate" | "next"))
}

/// Whether a text begins as an absolute URL of the Web.
pub(super) fn is_absolute(url: &str) -> bool {
    let scheme = url.trim_start().split_once("://").map_or("", |(scheme, _)| scheme);
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

#[expect(clippy::needless_pass_by_value, reason = "so it is given as a function")]
fn is_false(value: String) -> bool {
    value.trim().eq_ignore_ascii_case("false")
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    let found = attributes.with_checks(false).filter_map(Result::ok).find(|a| a.key.0 == name)?;
    let short = found.value.len() <= VALUE_BYTES;
    short.then(|| unescape_attribute(found.value.into_owned()).into_owned())
}

#[cfg(test)]
mod tests;
