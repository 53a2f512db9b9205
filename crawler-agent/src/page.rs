//! Content of an answer: what is reported to the coordinator, and which links are followed.

use protocol::page::{ContentHash, DisallowedBy, Link, Outcome, Page};
use sha2::{Digest as _, Sha256};

use crate::{
    extract::Document, extract::Extractor, extract::FoundLink, extract::Links, extract::Media,
    extract::directives::Directives, fetch::Flow, fetch::Head, fetch::Sink,
    robots::answer::is_of_guard,
};
use model::{CrawlUrl, Fingerprint, UnixMillis};

/// Version of the extraction. Where a new one takes more or better texts or links from the same
/// bytes, it has a higher number, and each page is reported once more at its next visit.
const EXTRACTION: u32 = 1;

/// Sink that extracts a document while its body arrives.
pub struct PageSink {
    extractor: Extractor,
    hash: Sha256,
    /// Whether the body is the file of a sitemap that was compressed before it was published.
    is_gzip_file: bool,
}

impl PageSink {
    /// A sink for the answer with this head to a request for `url`; none when it holds neither a
    /// document to index nor a list of URLs.
    pub fn open(url: &CrawlUrl, head: &Head) -> Option<Self> {
        if !has_content(head.status) {
            return None;
        }
        let media_type = head.media_type.as_deref();
        let is_gzip_file = url.url().path().ends_with(".xml.gz") && is_file_or_xml(media_type);
        let media = match media_type {
            _ if is_gzip_file => Media::Xml,
            Some(media_type) => Media::of(media_type)?,
            None => Media::Untyped,
        };
        let is_sitemap = media == Media::Text && may_be_sitemap(url.url().path());
        let media = if is_sitemap { Media::TextOrUrls } else { media };
        let extractor = Extractor::new(media, head.charset.as_deref()).of_url(url.url());
        Some(Self { extractor, hash: Sha256::new(), is_gzip_file })
    }
}

/// Whether answers with this status have the content of their URL. Of 202 it is the challenge of a
/// guard against crawlers.
pub fn has_content(status: u16) -> bool {
    (200..300).contains(&status) && !is_of_guard(status)
}

/// Whether servers send gzip files of sitemaps as this type. Many do not know the suffix.
fn is_file_or_xml(media_type: Option<&str>) -> bool {
    media_type.is_none_or(|media_type| match media_type {
        "application/gzip"
        | "application/x-gzip"
        | "application/octet-stream"
        | "binary/octet-stream"
        | "text/plain" => true,
        other => Media::of(other) == Some(Media::Xml),
    })
}

/// Whether the name of a file is one of sitemaps. Other lists of URLs are no wish of their site to
/// have them fetched.
pub fn may_be_sitemap(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let is_file = [".txt", ".xml", ".xml.gz"].iter().any(|suffix| name.ends_with(suffix));
    is_file && (name.contains("sitemap") || name.contains("urllist"))
}

impl Sink for PageSink {
    fn write(&mut self, bytes: &[u8]) -> Flow {
        self.hash.update(bytes);
        self.extractor.write(bytes);
        if self.extractor.wants_more() { Flow::More } else { Flow::Enough }
    }

    fn is_gzip_file(&self) -> bool {
        self.is_gzip_file
    }

    fn takes_beginning(&self) -> Option<bool> {
        self.extractor.is_list()
    }

    fn held(&self) -> usize {
        self.extractor.held()
    }
}

/// What an answer brings.
#[derive(Debug)]
pub struct Content {
    /// What is reported to the coordinator.
    pub outcome: Outcome,
    /// The links to follow.
    pub links: Vec<CrawlUrl>,
    /// What it lists; none when it is no sitemap or feed.
    pub list: Option<ListContent>,
    /// Whether it names a time from which on it must not be indexed.
    pub expires: bool,
}

/// What a sitemap or feed lists.
#[derive(Debug)]
pub struct ListContent {
    /// The first bytes of the SHA-256 of its URLs and their times.
    pub hash: ShortHash,
    /// URLs of the host of the list itself with the times of their changes that it states. Of other
    /// hosts it says nothing: they may have another owner.
    pub modified: Vec<(Fingerprint, UnixMillis)>,
}

/// The first 8 bytes of a SHA-256.
pub type ShortHash = [u8; 8];

/// The hash of these parts, each of which has its end.
pub fn short_hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> ShortHash {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
        hash.update([0]);
    }
    let digest: [u8; 32] = hash.finalize().into();
    let mut short = ShortHash::default();
    short.copy_from_slice(&digest[..8]);
    short
}

impl Content {
    fn without_list(outcome: Outcome, links: Vec<CrawlUrl>) -> Self {
        Self { outcome, links, list: None, expires: false }
    }
}

impl ListContent {
    /// What these links of the document at `url` say.
    fn of(url: &CrawlUrl, links: &Links) -> Self {
        let host = url.host_key_str();
        let of_host = links.found.iter().filter(|link| link.url.host_key_str() == host);
        let modified = of_host.filter_map(|link| Some((link.url.fingerprint(), link.modified?)));
        Self { hash: hash_of(&links.found), modified: modified.collect() }
    }
}

fn hash_of(links: &[FoundLink]) -> ShortHash {
    let parts = links.iter().map(|link| {
        let modified = link.modified.map_or(0, |modified| modified.0).to_le_bytes();
        (link.url.as_str().as_bytes(), modified)
    });
    let parts: Vec<_> = parts.collect();
    short_hash(parts.iter().flat_map(|(url, modified)| [*url, modified]))
}

/// The content of the answer to a request for `url` that was sent at this time.
pub fn content(url: &CrawlUrl, head: Head, sink: Option<PageSink>, now: UnixMillis) -> Content {
    let status = head.status;
    if let Some(location) = redirect(url, &head) {
        let outcome = Outcome::Redirect { status, location: location.to_string() };
        return Content::without_list(outcome, Vec::new());
    }
    // The page has not changed, but what its server says of it may have.
    if status == 304 && head.directives.forbid_indexing(now) {
        let outcome = Outcome::Disallowed { by: DisallowedBy::NoIndex };
        return Content::without_list(outcome, Vec::new());
    }
    let media_type = head.media_type;
    let Some(sink) = sink else {
        return Content::without_list(Outcome::Other { status, media_type }, Vec::new());
    };
    let PageSink { extractor, hash, .. } = sink;
    let mut document = extractor.finish();
    let sha256 = content_hash(hash, &document, &head.directives, media_type.as_deref());
    // Header and meta element restrict each other: either can forbid.
    document.directives = document.directives.and(head.directives);
    let links = document.take_links(url.url());
    let followed = links.followed();
    if document.is_list {
        let list = (!document.is_file).then(|| ListContent::of(url, &links));
        let outcome = Outcome::Other { status, media_type };
        return Content { list, ..Content::without_list(outcome, followed) };
    }
    // Without a type only HTML is recognised as a page.
    let media_type = media_type.unwrap_or_else(|| "text/html".into());
    if document.directives.forbid_indexing(now) {
        let outcome = Outcome::Disallowed { by: DisallowedBy::NoIndex };
        return Content::without_list(outcome, followed);
    }
    let expires = document.directives.unavailable_after.is_some();
    let page = Page {
        status,
        media_type,
        charset: document.charset.to_owned(),
        lang: document.lang,
        title: document.title,
        headings: document.headings,
        text: document.text,
        sha256,
        canonical: links.canonical.map(|url| url.to_string()),
        max_snippet: document.directives.max_snippet,
        links: links.found.into_iter().map(Link::from).collect(),
    };
    Content { expires, ..Content::without_list(Outcome::Page(page), followed) }
}

/// The hash of a body and of what else decides what is made of it, so that a page is reported again
/// where that has changed, though its bytes are the same.
fn content_hash(
    mut body: Sha256,
    document: &Document,
    of_header: &Directives,
    media_type: Option<&str>,
) -> ContentHash {
    let Directives { nofollow, max_snippet, .. } = of_header;
    let media_type = media_type.unwrap_or_default();
    let charset = document.charset;
    body.update(format!("\0{EXTRACTION} {media_type} {charset} {nofollow} {max_snippet:?}"));
    ContentHash(body.finalize().into())
}

fn redirect(url: &CrawlUrl, head: &Head) -> Option<CrawlUrl> {
    let location = head.location.as_deref().filter(|_| head.is_redirect())?;
    CrawlUrl::join(url.url(), location).ok()
}

#[cfg(test)]
mod tests;
