//! Outcome of a fetch: what is reported to the coordinator, and which links are followed.

use data_encoding::HEXLOWER;
use protocol::page::{DisallowedBy, Outcome, Page};
use sha2::{Digest as _, Sha256};

use crate::{extract::Extractor, extract::Media, fetch::Flow, fetch::Head, fetch::Sink};
use model::CrawlUrl;

/// Sink that extracts a document while its body arrives.
pub struct PageSink {
    extractor: Extractor,
    hash: Sha256,
}

impl PageSink {
    /// A sink for the answer with this head; none when it holds no document to index.
    pub fn for_head(head: &Head) -> Option<Self> {
        let media = head.media_type.as_deref().and_then(Media::of)?;
        let extractor = Extractor::new(media, head.charset.as_deref());
        (200..300).contains(&head.status).then(|| Self { extractor, hash: Sha256::new() })
    }
}

impl Sink for PageSink {
    fn write(&mut self, bytes: &[u8]) -> Flow {
        self.hash.update(bytes);
        self.extractor.write(bytes);
        Flow::More
    }

    fn held(&self) -> usize {
        self.extractor.held()
    }
}

/// The outcome of requesting `url`, and the links to follow.
pub fn outcome(url: &CrawlUrl, head: Head, sink: Option<PageSink>) -> (Outcome, Vec<CrawlUrl>) {
    let status = head.status;
    if let Some(location) = redirect(url, &head) {
        return (Outcome::Redirect { status, location: location.to_string() }, Vec::new());
    }
    match (sink, head.media_type) {
        (Some(sink), Some(media_type)) => {
            let sha256 = HEXLOWER.encode(&sink.hash.finalize());
            let mut document = sink.extractor.finish();
            // Header and meta element restrict each other: either can forbid.
            document.directives = document.directives.and(head.directives);
            let links = document.links(url.url());
            if document.directives.noindex {
                return (Outcome::Disallowed { by: DisallowedBy::NoIndex }, links);
            }
            let page = Page {
                status,
                media_type,
                charset: document.charset.to_owned(),
                lang: document.lang,
                title: document.title,
                text: document.text,
                sha256,
                links: links.len() as u32,
            };
            (Outcome::Page(page), links)
        }
        (_, media_type) => (Outcome::Other { status, media_type }, Vec::new()),
    }
}

fn redirect(url: &CrawlUrl, head: &Head) -> Option<CrawlUrl> {
    let location = head.location.as_deref().filter(|_| head.is_redirect())?;
    CrawlUrl::join(url.url(), location).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::directives::Directives;

    fn html(status: u16) -> Head {
        Head { status, media_type: Some("text/html".into()), ..Head::default() }
    }

    fn read(head: Head, body: &str) -> (Outcome, Vec<String>) {
        let mut sink = PageSink::for_head(&head);
        if let Some(sink) = &mut sink {
            sink.write(body.as_bytes());
        }
        let url = CrawlUrl::parse("http://e.org/dir/page").unwrap();
        let (outcome, links) = outcome(&url, head, sink);
        (outcome, links.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_page_is_reported_with_its_hash_and_number_of_links() {
        let (outcome, links) = read(html(200), "<title>T</title><a href=x>y</a>");
        let Outcome::Page(page) = outcome else { panic!("{outcome:?}") };
        assert_eq!((page.title.as_str(), page.text.as_str(), page.links), ("T", "y", 1));
        assert_eq!(
            page.sha256,
            HEXLOWER.encode(&Sha256::digest(b"<title>T</title><a href=x>y</a>"))
        );
        assert_eq!(links, ["http://e.org/dir/x"]);
    }

    #[test]
    fn redirects_are_made_absolute() {
        let to = |location: &str| read(Head { location: Some(location.into()), ..html(302) }, "").0;
        assert_eq!(
            to("../a#b"),
            Outcome::Redirect { status: 302, location: "http://e.org/a".into() }
        );
        assert_eq!(
            to("//o.org"),
            Outcome::Redirect { status: 302, location: "http://o.org/".into() }
        );
        assert!(matches!(to("mailto:x@e.org"), Outcome::Other { status: 302, .. }));
        assert!(matches!(read(html(302), "").0, Outcome::Other { status: 302, .. }));
        assert!(matches!(read(html(304), "").0, Outcome::Other { status: 304, .. }));
    }

    #[test]
    fn other_answers_are_reported_by_status_and_type() {
        assert_eq!(
            read(html(404), "<a href=x>").0,
            Outcome::Other { status: 404, media_type: Some("text/html".into()) }
        );
        let image = Head { media_type: Some("image/png".into()), ..html(200) };
        assert_eq!(
            read(image, "").0,
            Outcome::Other { status: 200, media_type: Some("image/png".into()) }
        );
        let untyped = Head { media_type: None, ..html(200) };
        assert_eq!(read(untyped, "<p>").0, Outcome::Other { status: 200, media_type: None });
    }

    #[test]
    fn noindex_withholds_the_text_and_still_follows_links() {
        let noindex = Outcome::Disallowed { by: DisallowedBy::NoIndex };
        let (outcome, links) = read(html(200), "<meta name=robots content=noindex><a href=x>y</a>");
        assert_eq!((outcome, links.len()), (noindex.clone(), 1));
        let directives = Directives { noindex: true, nofollow: true };
        let (outcome, links) = read(Head { directives, ..html(200) }, "<a href=x>y</a>");
        assert_eq!((outcome, links.len()), (noindex, 0));
    }
}
