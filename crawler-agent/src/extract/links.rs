//! Links of a document: its references, resolved.

use std::{borrow::Cow, collections::HashMap};

use encoding_rs::{Encoding, UTF_8};
use model::{CrawlUrl, Fingerprint, UnixMillis};
use protocol::page::Link;
use url::Url;

use super::{Document, LINK_BYTES, references::Reference, references::Rel, url_list};

/// Resolved links of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Links {
    /// The URL that the document names as its canonical one.
    pub canonical: Option<CrawlUrl>,
    /// Distinct links in their order.
    pub found: Vec<FoundLink>,
}

/// A link of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLink {
    /// Target of the link.
    pub url: CrawlUrl,
    /// Its text; of several links with the same target the first that is not empty.
    pub anchor: String,
    /// Relation to the target. Of several links with the same target, one that may be followed is
    /// enough.
    pub rel: Rel,
    /// When the target changed last, as a sitemap states it; of several times the latest.
    pub modified: Option<UnixMillis>,
}

impl From<FoundLink> for Link {
    fn from(link: FoundLink) -> Self {
        let FoundLink { url, anchor, rel: Rel { nofollow, ugc, sponsored }, .. } = link;
        Self { url: url.into(), anchor, nofollow, ugc, sponsored }
    }
}

impl Links {
    /// The links of `document`, which was fetched from `url`, with these references.
    pub(super) fn of(document: &Document, references: Vec<Reference>, url: &Url) -> Self {
        let base = document.base.as_deref().and_then(|base| url.join(base).ok());
        let base =
            base.filter(|b| matches!(b.scheme(), "http" | "https")).unwrap_or_else(|| url.clone());
        let most = if document.is_list { url_list::URL_BYTES } else { LINK_BYTES };
        let encoding = query_encoding(document);
        let encode: &dyn Fn(&str) -> Cow<'_, [u8]> = &|query| encoded(encoding, query);
        let query = (encoding != UTF_8).then_some(encode);
        let join = |reference: &str| CrawlUrl::join_encoded(&base, reference, query);
        let canonical = document.canonical.as_deref();
        let canonical = canonical.and_then(|canonical| join(canonical).ok());
        let mut distinct = DistinctLinks::new(most, canonical.as_ref());
        for reference in references {
            let Ok(url) = join(&reference.target) else { continue };
            let Reference { anchor, rel, modified, .. } = reference;
            let nofollow = rel.nofollow || document.directives.nofollow;
            let rel = Rel { nofollow, ..rel };
            if !distinct.add(FoundLink { url, anchor, rel, modified }) {
                break;
            }
        }
        let canonical = canonical.filter(|_| !document.directives.nofollow);
        Self { canonical, found: distinct.links }
    }

    /// The URLs to crawl: the canonical one, which is worth the most, before the others.
    pub fn followed(&self) -> Vec<CrawlUrl> {
        let canonical = self.canonical.as_ref();
        let found = self.found.iter().filter(|link| !link.rel.nofollow);
        let found = found.map(|link| &link.url).filter(|url| Some(*url) != canonical);
        canonical.into_iter().chain(found).cloned().collect()
    }
}

/// Encoding of the queries of a document's links: its own for HTML, and UTF-8 for lists.
fn query_encoding(document: &Document) -> &'static Encoding {
    let encoding = Encoding::for_label(document.charset.as_bytes()).filter(|_| !document.is_list);
    encoding.map_or(UTF_8, Encoding::output_encoding)
}

/// The bytes of a query. As in browsers, a character that the encoding does not have becomes an
/// escaped reference of HTML.
fn encoded<'q>(encoding: &'static Encoding, query: &'q str) -> Cow<'q, [u8]> {
    let (bytes, _, has_others) = encoding.encode(query);
    if !has_others {
        return bytes;
    }
    let mut bytes = Vec::with_capacity(2 * query.len());
    for c in query.chars() {
        let mut text = [0; 4];
        match encoding.encode(c.encode_utf8(&mut text)) {
            (encoded, _, false) => bytes.extend_from_slice(&encoded),
            _ => bytes.extend_from_slice(format!("%26%23{}%3B", u32::from(c)).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// Distinct links, bounded in bytes once they are resolved.
struct DistinctLinks {
    links: Vec<FoundLink>,
    numbers: HashMap<Fingerprint, usize>,
    bytes: usize,
    most: usize,
}

impl DistinctLinks {
    fn new(most: usize, canonical: Option<&CrawlUrl>) -> Self {
        let bytes = canonical.map_or(0, |url| url.as_str().len());
        Self { links: Vec::new(), numbers: HashMap::new(), bytes, most }
    }

    /// Adds a link, or merges it with the one to the same target; returns whether there is room for
    /// more.
    fn add(&mut self, link: FoundLink) -> bool {
        let fingerprint = link.url.fingerprint();
        if let Some(number) = self.numbers.get(&fingerprint) {
            merge(&mut self.links[*number], link);
            return true;
        }
        self.bytes += link.url.as_str().len() + link.anchor.len();
        if self.bytes > self.most {
            return false;
        }
        self.numbers.insert(fingerprint, self.links.len());
        self.links.push(link);
        true
    }
}

fn merge(link: &mut FoundLink, other: FoundLink) {
    if link.anchor.is_empty() {
        link.anchor = other.anchor;
    }
    if link.rel.nofollow && !other.rel.nofollow {
        link.rel = other.rel;
    }
    link.modified = link.modified.max(other.modified);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::{Extractor, Media};

    fn links(media: Media, charset: &str, text: &str) -> Vec<String> {
        let encoding = Encoding::for_label(charset.as_bytes()).unwrap();
        let mut extractor = Extractor::new(media, Some(charset));
        extractor.write(&encoding.encode(text).0);
        let base = Url::parse("http://e.org/?ж").unwrap();
        let links = extractor.finish().take_links(&base).followed();
        links.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn queries_of_links_are_in_the_encoding_of_the_page() {
        let html = "<base href='/b?ж'><link rel=canonical href='/c?ж'><a href='/ж?q=ж%D0&a=b#ж'>x";
        assert_eq!(
            links(Media::Html, "windows-1251", html),
            ["http://e.org/c?%E6", "http://e.org/%D0%B6?q=%E6%D0&a=b"]
        );
        let utf8 = ["http://e.org/c?%D0%B6", "http://e.org/%D0%B6?q=%D0%B6%D0&a=b"];
        assert_eq!(links(Media::Html, "utf-8", html), utf8);
        let others = "<a href='/?q=&#1046;é&b'>x";
        assert_eq!(
            links(Media::Html, "windows-1252", others),
            ["http://e.org/?q=%26%231046%3B%E9&b"]
        );
        let list = "<urlset><url><loc>/?ж</loc></url></urlset>";
        assert_eq!(links(Media::Xml, "windows-1251", list), ["http://e.org/?%D0%B6"]);
    }
}
