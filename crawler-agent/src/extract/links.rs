//! Links of a document: its references, resolved.

use std::collections::HashMap;

use model::{CrawlUrl, Fingerprint};
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
}

impl From<FoundLink> for Link {
    fn from(link: FoundLink) -> Self {
        let FoundLink { url, anchor, rel: Rel { nofollow, ugc, sponsored } } = link;
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
        let canonical = document.canonical.as_deref();
        let canonical = canonical.and_then(|canonical| CrawlUrl::join(&base, canonical).ok());
        let mut distinct = DistinctLinks::new(most, canonical.as_ref());
        for reference in references {
            let Ok(url) = CrawlUrl::join(&base, &reference.target) else { continue };
            let Reference { anchor, rel, .. } = reference;
            let nofollow = rel.nofollow || document.directives.nofollow;
            if !distinct.add(url, anchor, Rel { nofollow, ..rel }) {
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
    fn add(&mut self, url: CrawlUrl, anchor: String, rel: Rel) -> bool {
        let fingerprint = url.fingerprint();
        if let Some(number) = self.numbers.get(&fingerprint) {
            merge(&mut self.links[*number], anchor, rel);
            return true;
        }
        self.bytes += url.as_str().len() + anchor.len();
        if self.bytes > self.most {
            return false;
        }
        self.numbers.insert(fingerprint, self.links.len());
        self.links.push(FoundLink { url, anchor, rel });
        true
    }
}

fn merge(link: &mut FoundLink, anchor: String, rel: Rel) {
    if link.anchor.is_empty() {
        link.anchor = anchor;
    }
    if link.rel.nofollow && !rel.nofollow {
        link.rel = rel;
    }
}
