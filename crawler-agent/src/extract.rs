//! Here is the body of an answer: what does a reader see, and where does it lead?
//!
//! The body is read as it arrives and never held as a whole: bytes → [`charset`] → text → [`html`]
//! → a [`Document`] whose size is bounded whatever the page does. Nothing in a page can make this
//! fail: what can't be understood is left out.

mod charset;
mod collector;
pub mod directives;
mod html;
mod lang;
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

/// Longest text that is kept of a document, in bytes of UTF-8.
pub const TEXT_BYTES: usize = 400 << 10;

/// Most links that are looked at on a page.
pub const MAX_LINKS: usize = 5_000;

/// How a body is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// HTML or XHTML.
    Html,
    /// Plain text.
    Text,
}

impl Media {
    /// The way to read a body of this media type (without parameters, lower case); none when it is
    /// not for us.
    pub fn of(media_type: &str) -> Option<Self> {
        match media_type {
            "text/html" | "application/xhtml+xml" => Some(Self::Html),
            "text/plain" | "text/markdown" => Some(Self::Text),
            _ => None,
        }
    }
}

/// What was found in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Encoding that it was read in, by its WHATWG name.
    pub charset: &'static str,
    /// Language, ISO 639-1 where there is one; none when unknown.
    pub lang: Option<String>,
    /// Title, white space folded; may be empty.
    pub title: String,
    /// What a reader sees, white space folded, at most [`TEXT_BYTES`].
    pub text: String,
    /// What its robots meta elements ask for.
    pub directives: Directives,
    base: Option<String>,
    references: Vec<String>,
}

impl Document {
    /// The distinct URLs to which the document, which was fetched from `url`, leads, in its order;
    /// none when it asks not to be followed.
    pub fn links(&self, url: &Url) -> Vec<CrawlUrl> {
        if self.directives.nofollow {
            return Vec::new();
        }
        let base = self.base.as_deref().and_then(|base| url.join(base).ok());
        let base =
            base.filter(|b| matches!(b.scheme(), "http" | "https")).unwrap_or_else(|| url.clone());
        let mut seen = HashSet::new();
        let links =
            self.references.iter().filter_map(|reference| CrawlUrl::join(&base, reference).ok());
        links.filter(|link| seen.insert(link.fingerprint())).collect()
    }
}

/// Reads one document as it arrives.
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
    /// A reader for a body of this kind, with the charset that the header named, if any.
    pub fn new(media: Media, header_charset: Option<&str>) -> Self {
        let named = header_charset.and_then(|label| Encoding::for_label(label.as_bytes()));
        let (prescan, reader) = match media {
            Media::Html => (true, Reader::Html(HtmlReader::new())),
            Media::Text => (false, Reader::Text(Folded::new(TEXT_BYTES))),
        };
        Self { decoding: Decoding::new(named, prescan), reader, decoded: String::new() }
    }

    /// Takes the next bytes of the body, after content encodings were undone.
    pub fn write(&mut self, bytes: &[u8]) {
        self.decoded.clear();
        self.decoding.push(bytes, &mut self.decoded);
        self.read_decoded();
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
