//! Extraction: the text that a reader sees, and the links, from the body of an answer; of sitemaps
//! and feeds only the links.
//!
//! The body is processed as it arrives and never held as a whole: bytes → [`charset`] → text →
//! [`html`] → a [`Document`] of bounded size. No content makes this fail; what cannot be parsed is
//! left out.

mod charset;
mod collector;
mod dates;
pub mod directives;
mod elements;
mod html;
mod lang;
mod links;
mod references;
mod self_closed;
mod sniff;
mod text;
mod tokenizer;
mod url_lines;
mod url_list;
mod visible;

use encoding_rs::Encoding;
use url::Url;

use charset::{CharsetDeclaration, CharsetDecoder};
use collector::Collector;
use directives::Directives;
use html::HtmlReader;
use references::Reference;
use text::CollapsedText;
use url_lines::UrlLines;
use url_list::UrlList;
use visible::VisibleText;

pub use links::{FoundLink, Links};
pub use references::Rel;

/// Longest text of a document, in bytes of UTF-8; the rest is dropped.
pub const TEXT_BYTES: usize = 400 << 10;

/// Most links that are taken from a page.
pub const MAX_LINKS: usize = 5_000;

/// Most bytes of all links of a page with their texts, as they are written and once they are
/// resolved. Real pages stay far below; without it 5,000 links with long values take 40 MB.
pub const LINK_BYTES: usize = 1 << 20;

/// Bytes of text that the readers get at once, except at the end. The parser of HTML reads a tag
/// that is not complete from its start again with each piece, so that a tag of megabytes in pieces
/// of some bytes would take minutes.
const PIECE_BYTES: usize = 2 << 10;

/// How often text is in memory while its page is stored.
const TEXT_COPIES: usize = 2;

/// Kinds of bodies that are extracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// HTML of any version.
    Html,
    /// XHTML, which is read as HTML in which a slash ends an element of raw text.
    Xhtml,
    /// Plain text and Markdown.
    Text,
    /// Plain text that may be a sitemap with a URL in each line.
    TextOrUrls,
    /// XML that may be a sitemap, a feed, or a page of XHTML.
    Xml,
    /// A body of an unknown type, which may be a page, a sitemap, a feed or nothing of use.
    Untyped,
}

impl Media {
    /// The kind of a media type (without parameters, lower case); none when it is not extracted.
    pub fn of(media_type: &str) -> Option<Self> {
        match media_type {
            "text/html" => Some(Self::Html),
            "application/xhtml+xml" => Some(Self::Xhtml),
            "text/plain" | "text/markdown" => Some(Self::Text),
            "text/xml"
            | "application/xml"
            | "application/rss+xml"
            | "application/atom+xml"
            | "application/rdf+xml" => Some(Self::Xml),
            _ => None,
        }
    }
}

/// Result of extraction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// Encoding of the body, by its WHATWG name.
    pub charset: &'static str,
    /// Language, by its ISO 639-1 code where there is one; none when unknown.
    pub lang: Option<String>,
    /// Title with white space folded; may be empty.
    pub title: String,
    /// Headings of the page's subject, a line each.
    pub headings: String,
    /// Visible text with white space folded, at most [`TEXT_BYTES`] long.
    pub text: String,
    /// Whether only links are taken.
    pub is_list: bool,
    /// Whether it is a file without text and links.
    pub is_file: bool,
    /// Robots directives of its meta elements.
    pub directives: Directives,
    /// Value of the first base element.
    base: Option<String>,
    /// Canonical URL as it is written.
    canonical: Option<String>,
    references: Vec<Reference>,
}

impl Document {
    fn list(references: Vec<Reference>, charset: &'static Encoding) -> Self {
        Self { charset: charset.name(), is_list: true, references, ..Self::default() }
    }

    /// Takes the links out of the document, resolved against `url`, from which it was fetched.
    pub fn take_links(&mut self, url: &Url) -> Links {
        let references = std::mem::take(&mut self.references);
        Links::of(self, references, url)
    }
}

/// Extracts one document as it arrives.
pub struct Extractor {
    decoding: CharsetDecoder,
    /// The kind by the type, until the beginning of the text has confirmed it.
    unconfirmed: Option<Media>,
    reader: Reader,
    /// The first bytes of the body until the kind is confirmed.
    beginning: Vec<u8>,
    /// Text that the reader has not got yet.
    decoded: String,
}

enum Reader {
    Html(HtmlReader),
    Text(CollapsedText),
    List(UrlList),
    Lines(UrlLines),
    /// The body is a file without text and links.
    Nothing,
}

impl Extractor {
    /// An extractor for a body of this kind, with the charset of the Content-Type header, if any.
    pub fn new(media: Media, header_charset: Option<&str>) -> Self {
        let named = header_charset.and_then(|label| Encoding::for_label(label.as_bytes()));
        let (declared, reader) = match media {
            Media::Html => (CharsetDeclaration::InMeta, Reader::Html(HtmlReader::new())),
            Media::Xhtml => (CharsetDeclaration::InMeta, Reader::Html(HtmlReader::of_xhtml())),
            Media::Text | Media::TextOrUrls => {
                (CharsetDeclaration::Nowhere, Reader::Text(CollapsedText::new(TEXT_BYTES)))
            }
            Media::Xml => (CharsetDeclaration::InXml, Reader::List(UrlList::new())),
            Media::Untyped => (CharsetDeclaration::InMeta, Reader::List(UrlList::new())),
        };
        Self {
            decoding: CharsetDecoder::new(named, declared),
            unconfirmed: Some(media),
            reader,
            beginning: Vec::new(),
            decoded: String::new(),
        }
    }

    /// The same extractor, for a document that was fetched from this URL.
    #[must_use]
    pub fn of_url(mut self, url: &Url) -> Self {
        self.decoding.set_host(url.host_str().unwrap_or_default());
        self
    }

    /// Takes the next bytes of the body, after content encodings were removed.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.unconfirmed.is_some() {
            let room = sniff::RESOURCE_HEADER - self.beginning.len();
            self.beginning.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        self.decoding.push(bytes, &mut self.decoded);
        // The document must not depend on the pieces in which its beginning arrives.
        let may_confirm = self.beginning.len() == sniff::RESOURCE_HEADER;
        let is_ready = self.unconfirmed.is_none() || may_confirm;
        if is_ready && self.decoded.len() >= PIECE_BYTES {
            self.read_decoded();
        }
    }

    /// Memory of the extractor and of the document that it makes, in bytes.
    pub fn held(&self) -> usize {
        let reader = match &self.reader {
            Reader::Html(reader) => reader.held(),
            Reader::Text(text) => TEXT_COPIES * text.capacity(),
            Reader::List(list) => list.held(),
            Reader::Lines(lines) => lines.held(),
            Reader::Nothing => 0,
        };
        self.beginning.capacity() + self.decoded.capacity() + self.decoding.held() + reader
    }

    /// Whether the rest of the body can change the document.
    pub fn wants_more(&self) -> bool {
        match &self.reader {
            Reader::Html(_) | Reader::Text(_) => true,
            Reader::List(list) => list.wants_more(),
            Reader::Lines(lines) => lines.wants_more(),
            Reader::Nothing => false,
        }
    }

    /// Whether the body is read for the URLs that it lists; none while its beginning has not said
    /// what it is.
    pub fn is_list(&self) -> Option<bool> {
        let is_known = self.unconfirmed.is_none();
        is_known.then_some(matches!(self.reader, Reader::List(_) | Reader::Lines(_)))
    }

    /// Ends the body.
    pub fn finish(mut self) -> Document {
        let charset = self.decoding.finish(&mut self.decoded);
        self.read_decoded();
        let collector = match self.reader {
            Reader::Html(reader) => reader.finish(),
            Reader::Text(text) => Collector::of_text(text),
            Reader::List(list) => return Document::list(list.finish().into_list(), charset),
            Reader::Lines(lines) => return Document::list(lines.finish().into_list(), charset),
            Reader::Nothing => {
                let nothing = Document::list(Vec::new(), charset);
                return Document { is_file: true, ..nothing };
            }
        };
        collector.into_document(charset)
    }

    fn read_decoded(&mut self) {
        if let Some(media) = self.unconfirmed.take() {
            self.confirm(media);
        }
        match &mut self.reader {
            Reader::Html(reader) => reader.write(&self.decoded),
            Reader::Text(text) => text.push(&self.decoded),
            Reader::List(list) => list.write(&self.decoded),
            Reader::Lines(lines) => lines.write(&self.decoded),
            Reader::Nothing => {}
        }
        self.decoded.clear();
    }

    /// Chooses another reader where the text is something else than its type says.
    fn confirm(&mut self, media: Media) {
        let text = &self.decoded;
        let beginning = std::mem::take(&mut self.beginning);
        let is_text = matches!(media, Media::Text | Media::TextOrUrls);
        match media {
            Media::Xml if sniff::is_xhtml(text) => {
                self.reader = Reader::Html(HtmlReader::of_xhtml());
            }
            Media::Xml => {}
            _ if sniff::is_file(&beginning) => self.reader = Reader::Nothing,
            _ if is_text && !self.decoding.is_wide() && sniff::is_binary(&beginning) => {
                self.reader = Reader::Nothing;
            }
            _ if sniff::is_xml_list(text) => self.reader = Reader::List(UrlList::new()),
            Media::TextOrUrls if sniff::is_lines_of_urls(text) => {
                self.reader = Reader::Lines(UrlLines::new());
            }
            Media::Untyped if sniff::is_html(text) => self.reader = Reader::Html(HtmlReader::new()),
            // An empty body says nothing.
            Media::Untyped if !beginning.is_empty() => self.reader = Reader::Nothing,
            Media::Untyped | Media::Html | Media::Xhtml | Media::Text | Media::TextOrUrls => {}
        }
    }
}

impl Collector {
    fn into_document(self, charset: &'static Encoding) -> Document {
        let VisibleText { main, boilerplate, title, headings, .. } = self.text;
        // A page that is all menu is still found by its menu.
        let text = if main.is_empty() { boilerplate } else { main }.into_string();
        let lang = self.lang.as_deref().and_then(lang::declared).or_else(|| lang::detected(&text));
        Document {
            charset: charset.name(),
            lang,
            title: title.into_string(),
            headings,
            text,
            is_list: false,
            is_file: false,
            directives: self.directives,
            base: self.base,
            canonical: self.canonical,
            references: self.references.into_list(),
        }
    }
}

#[cfg(test)]
mod tests;
