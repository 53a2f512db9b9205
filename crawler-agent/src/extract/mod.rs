//! Extraction: the text that a reader sees, and the links, from the body of an answer.
//!
//! The body is processed as it arrives and never held as a whole: bytes → [`charset`] → text →
//! [`html`] → a [`Document`] of bounded size. No content makes this fail; what cannot be parsed is
//! left out.

mod charset;
mod collector;
pub mod directives;
mod html;
mod lang;
mod tags;
mod text;

use std::collections::HashSet;

use encoding_rs::Encoding;
use url::Url;

use charset::Decoding;
use collector::Collector;
use directives::Directives;
use html::HtmlReader;
use model::CrawlUrl;
use text::Folded;

/// Longest text of a document, in bytes of UTF-8; the rest is dropped.
pub const TEXT_BYTES: usize = 400 << 10;

/// Most links that are taken from a page.
pub const MAX_LINKS: usize = 5_000;

/// Most bytes of all links of a page, as they are written and once they are resolved. Real pages
/// stay far below; without it 5,000 links with long values take 40 MB.
pub const LINK_BYTES: usize = 1 << 20;

/// How often text is in memory while its page is stored.
const TEXT_COPIES: usize = 2;

/// Memory of a resolved link in addition to its text, in bytes.
const RESOLVED_BYTES: usize = 160;

/// Kinds of bodies that are extracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// HTML and XHTML.
    Html,
    /// Plain text and Markdown.
    Text,
}

impl Media {
    /// The kind of a media type (without parameters, lower case); none when it is not extracted.
    pub fn of(media_type: &str) -> Option<Self> {
        match media_type {
            "text/html" | "application/xhtml+xml" => Some(Self::Html),
            "text/plain" | "text/markdown" => Some(Self::Text),
            _ => None,
        }
    }
}

/// Result of extraction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Encoding of the body, by its WHATWG name.
    pub charset: &'static str,
    /// Language, by its ISO 639-1 code where there is one; none when unknown.
    pub lang: Option<String>,
    /// Title with white space folded; may be empty.
    pub title: String,
    /// Visible text with white space folded, at most [`TEXT_BYTES`] long.
    pub text: String,
    /// Robots directives of its meta elements.
    pub directives: Directives,
    /// Value of the first base element.
    base: Option<String>,
    /// Links as they are written.
    references: Vec<String>,
}

impl Document {
    /// The distinct URLs that the document links to, in its order, resolved against `url`, from
    /// which it was fetched; empty where it forbids following.
    pub fn links(&self, url: &Url) -> Vec<CrawlUrl> {
        if self.directives.nofollow {
            return Vec::new();
        }
        let base = self.base.as_deref().and_then(|base| url.join(base).ok());
        let base =
            base.filter(|b| matches!(b.scheme(), "http" | "https")).unwrap_or_else(|| url.clone());
        let mut seen = HashSet::new();
        let mut bytes = 0;
        let links =
            self.references.iter().filter_map(|reference| CrawlUrl::join(&base, reference).ok());
        links
            .filter(|link| seen.insert(link.fingerprint()))
            .take_while(|link| {
                bytes += link.as_str().len();
                bytes <= LINK_BYTES
            })
            .collect()
    }
}

/// Extracts one document as it arrives.
pub struct Extractor {
    decoding: Decoding,
    reader: Reader,
    decoded: String,
}

enum Reader {
    Html(HtmlReader),
    Text(Folded),
}

impl Extractor {
    /// An extractor for a body of this kind, with the charset of the Content-Type header, if any.
    pub fn new(media: Media, header_charset: Option<&str>) -> Self {
        let named = header_charset.and_then(|label| Encoding::for_label(label.as_bytes()));
        let (prescan, reader) = match media {
            Media::Html => (true, Reader::Html(HtmlReader::new())),
            Media::Text => (false, Reader::Text(Folded::new(TEXT_BYTES))),
        };
        Self { decoding: Decoding::new(named, prescan), reader, decoded: String::new() }
    }

    /// Takes the next bytes of the body, after content encodings were removed.
    pub fn write(&mut self, bytes: &[u8]) {
        self.decoded.clear();
        self.decoding.push(bytes, &mut self.decoded);
        self.read_decoded();
    }

    /// Memory of the extractor and of the document that it makes, in bytes.
    pub fn held(&self) -> usize {
        let reader = match &self.reader {
            Reader::Html(reader) => reader.held(),
            Reader::Text(text) => TEXT_COPIES * text.capacity(),
        };
        self.decoded.capacity() + self.decoding.held() + reader
    }

    /// Ends the body.
    pub fn finish(mut self) -> Document {
        self.decoded.clear();
        let charset = self.decoding.finish(&mut self.decoded);
        self.read_decoded();
        let collector = match self.reader {
            Reader::Html(reader) => reader.finish(),
            Reader::Text(text) => Collector::of_text(text),
        };
        collector.into_document(charset)
    }

    fn read_decoded(&mut self) {
        match &mut self.reader {
            Reader::Html(reader) => reader.write(&self.decoded),
            Reader::Text(text) => text.push(&self.decoded),
        }
    }
}

impl Collector {
    fn into_document(self, charset: &'static Encoding) -> Document {
        // A page that is all menu is still found by its menu.
        let text = if self.main.is_empty() { self.boilerplate } else { self.main }.into_string();
        let lang = self.lang.as_deref().and_then(lang::declared).or_else(|| lang::detected(&text));
        Document {
            charset: charset.name(),
            lang,
            title: self.title.into_string(),
            text,
            directives: self.directives,
            base: self.base,
            references: self.references,
        }
    }
}

#[cfg(test)]
mod tests;
