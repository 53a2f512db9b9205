//! Content of an answer: what is reported to the coordinator, and which links are followed.

use protocol::page::{ContentHash, DisallowedBy, Link, Outcome, Page};
use sha2::{Digest as _, Sha256};

use crate::{
    extract::Extractor, extract::FoundLink, extract::Links, extract::Media, fetch::Flow,
    fetch::Head, fetch::Sink,
};
use model::{CrawlUrl, Fingerprint, UnixMillis};

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
        let media_type = head.media_type.as_deref();
        let is_gzip_file = url.url().path().ends_with(".xml.gz") && is_file_or_xml(media_type);
        let media = match media_type {
            _ if is_gzip_file => Media::Xml,
            Some(media_type) => Media::of(media_type)?,
            None => Media::Untyped,
        };
        let is_sitemap = media == Media::Text && may_be_sitemap(url.url().path());
        let media = if is_sitemap { Media::TextOrUrls } else { media };
        let extractor = Extractor::new(media, head.charset.as_deref());
        let sink = Self { extractor, hash: Sha256::new(), is_gzip_file };
        has_content(head.status).then_some(sink)
    }
}

/// Whether answers with this status have the content of their URL. Of 202 it is the challenge of a
/// guard against crawlers.
pub fn has_content(status: u16) -> bool {
    (200..300).contains(&status) && status != 202
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
        Self { outcome, links, list: None }
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

/// The content of the answer to a request for `url`.
pub fn content(url: &CrawlUrl, head: Head, sink: Option<PageSink>) -> Content {
    let status = head.status;
    if let Some(location) = redirect(url, &head) {
        let outcome = Outcome::Redirect { status, location: location.to_string() };
        return Content::without_list(outcome, Vec::new());
    }
    // The page has not changed, but what its server says of it may have.
    if status == 304 && head.directives.noindex {
        let outcome = Outcome::Disallowed { by: DisallowedBy::NoIndex };
        return Content::without_list(outcome, Vec::new());
    }
    let media_type = head.media_type;
    let Some(sink) = sink else {
        return Content::without_list(Outcome::Other { status, media_type }, Vec::new());
    };
    let sha256 = ContentHash(sink.hash.finalize().into());
    let mut document = sink.extractor.finish();
    // Header and meta element restrict each other: either can forbid.
    document.directives = document.directives.and(head.directives);
    let links = document.take_links(url.url());
    let followed = links.followed();
    if document.is_list {
        let list = Some(ListContent::of(url, &links));
        return Content { outcome: Outcome::Other { status, media_type }, links: followed, list };
    }
    // Without a type only HTML is recognised as a page.
    let media_type = media_type.unwrap_or_else(|| "text/html".into());
    if document.directives.noindex {
        let outcome = Outcome::Disallowed { by: DisallowedBy::NoIndex };
        return Content::without_list(outcome, followed);
    }
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
        links: links.found.into_iter().map(Link::from).collect(),
    };
    Content::without_list(Outcome::Page(page), followed)
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
        let url = CrawlUrl::parse("http://e.org/dir/page").unwrap();
        let mut sink = PageSink::open(&url, &head);
        if let Some(sink) = &mut sink {
            sink.write(body.as_bytes());
        }
        let Content { outcome, links, .. } = content(&url, head, sink);
        (outcome, links.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_page_is_reported_with_its_hash_and_links() {
        let body = "<title>T</title><a href=x>y</a><a href=z rel=nofollow></a>";
        let (outcome, links) = read(html(200), body);
        let Outcome::Page(page) = outcome else { panic!("{outcome:?}") };
        assert_eq!((page.title.as_str(), page.text.as_str()), ("T", "y"));
        assert_eq!(page.sha256.0, <[u8; 32]>::from(Sha256::digest(body)));
        let link = |path: &str, anchor: &str, nofollow| Link {
            url: format!("http://e.org/dir/{path}"),
            anchor: anchor.into(),
            nofollow,
            ..Link::default()
        };
        assert_eq!(page.links, [link("x", "y", false), link("z", "", true)]);
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
        // A guard against crawlers asks for a proof with it.
        assert!(matches!(read(html(202), "<p>text").0, Outcome::Other { status: 202, .. }));
        let image = Head { media_type: Some("image/png".into()), ..html(200) };
        assert_eq!(
            read(image, "").0,
            Outcome::Other { status: 200, media_type: Some("image/png".into()) }
        );
        let untyped = Head { media_type: None, ..html(200) };
        for body in ["<p>", "", "{\"a\": 1}"] {
            let outcome = read(untyped.clone(), body);
            assert_eq!(outcome, (Outcome::Other { status: 200, media_type: None }, Vec::new()));
        }
    }

    #[test]
    fn pages_and_sitemaps_without_a_type_are_read() {
        let untyped = Head { media_type: None, ..html(200) };
        let page = "<!doctype html><title>T</title><a href=x>y</a>";
        let (outcome, links) = read(untyped.clone(), page);
        let Outcome::Page(page) = outcome else { panic!("{outcome:?}") };
        assert_eq!((page.media_type.as_str(), page.title.as_str()), ("text/html", "T"));
        assert_eq!(links, ["http://e.org/dir/x"]);
        let (outcome, links) = read(untyped, "<urlset><url><loc>/a</loc></url></urlset>");
        assert_eq!(outcome, Outcome::Other { status: 200, media_type: None });
        assert_eq!(links, ["http://e.org/a"]);
    }

    #[test]
    fn of_sitemaps_and_feeds_only_links_are_taken() {
        let xml = |media_type: &str| Head { media_type: Some(media_type.into()), ..html(200) };
        let outcome = |media_type: &str| Outcome::Other {
            status: 200,
            media_type: Some(media_type.to_owned()),
        };
        let sitemap = "<urlset><url><loc>/a</loc></url><url><loc>b</loc></url></urlset>";
        let links = vec!["http://e.org/a".to_owned(), "http://e.org/dir/b".to_owned()];
        for media_type in ["text/xml", "application/xml", "application/rss+xml"] {
            assert_eq!(read(xml(media_type), sitemap), (outcome(media_type), links.clone()));
        }
        let other = "<page><loc>/a</loc></page>";
        assert_eq!(read(xml("text/xml"), other), (outcome("text/xml"), Vec::new()));
        let open = |url: &str, media_type: &str| {
            PageSink::open(&CrawlUrl::parse(url).unwrap(), &xml(media_type))
                .map(|sink| sink.is_gzip_file())
        };
        assert_eq!(open("http://e.org/1.xml.gz?x", "application/gzip"), Some(true));
        assert_eq!(open("http://e.org/1.xml", "application/xml"), Some(false));
        assert_eq!(open("http://e.org/1.tar.gz", "application/gzip"), None);
    }

    #[test]
    fn lists_say_when_pages_of_their_host_changed() {
        let list = |body: &str| {
            let url = CrawlUrl::parse("http://e.org/sitemap.xml").unwrap();
            let head = Head { media_type: Some("text/xml".into()), ..html(200) };
            let mut sink = PageSink::open(&url, &head).unwrap();
            sink.write(body.as_bytes());
            content(&url, head, Some(sink)).list.unwrap()
        };
        let entry = |url: &str, second: u8| {
            let time = format!("1970-01-01T00:00:0{second}Z");
            format!("<url><loc>{url}</loc><lastmod>{time}</lastmod></url>")
        };
        let sitemap = |second| {
            let entries = [entry("/a", second), entry("http://o.org/", 5), "<url/>".into()];
            format!("<urlset>{}</urlset>", entries.concat())
        };
        let found = list(&sitemap(1));
        let page = CrawlUrl::parse("http://e.org/a").unwrap().fingerprint();
        assert_eq!(found.modified, [(page, UnixMillis(1_000))]);
        assert_eq!(found.hash, list(&sitemap(1).replace("urlset", "urlset ")).hash);
        assert_ne!(found.hash, list(&sitemap(2)).hash);
        assert_ne!(found.hash, list(&sitemap(1).replace("/a", "/b")).hash);
    }

    #[test]
    fn sitemaps_that_are_gzip_files_are_read_whatever_their_type() {
        let url = CrawlUrl::parse("http://e.org/sitemap.xml.gz").unwrap();
        for media_type in [
            Some("application/octet-stream"),
            Some("binary/octet-stream"),
            Some("text/plain"),
            Some("text/xml"),
            Some("application/x-gzip"),
            None,
        ] {
            let head = Head { media_type: media_type.map(Into::into), ..html(200) };
            let mut sink = PageSink::open(&url, &head).unwrap();
            assert!(sink.is_gzip_file(), "{media_type:?}");
            sink.write(b"<urlset><url><loc>/a</loc></url></urlset>");
            let Content { outcome, links, .. } = content(&url, head, Some(sink));
            let media_type = media_type.map(Into::into);
            assert_eq!(outcome, Outcome::Other { status: 200, media_type });
            assert_eq!(links, [CrawlUrl::parse("http://e.org/a").unwrap()]);
        }
        assert!(PageSink::open(&url, &html(200)).is_some_and(|sink| !sink.is_gzip_file()));
        let image = Head { media_type: Some("image/png".into()), ..html(200) };
        assert!(PageSink::open(&url, &image).is_none());
    }

    #[test]
    fn sitemaps_are_read_though_their_type_is_that_of_a_page() {
        let read = |path: &str, media_type: &str, body: &str| {
            let url = CrawlUrl::parse(&format!("http://e.org{path}")).unwrap();
            let head = Head { media_type: Some(media_type.into()), ..html(200) };
            let mut sink = PageSink::open(&url, &head).unwrap();
            body.as_bytes().chunks(100).for_each(|bytes| _ = sink.write(bytes));
            let Content { outcome, links, .. } = content(&url, head, Some(sink));
            (matches!(outcome, Outcome::Other { status: 200, .. }), links.len())
        };
        let urls = "<url><loc>http://e.org/a</loc></url>".repeat(3_000);
        let sitemap = format!("<?xml version='1.0'?>\n<urlset>{urls}</urlset>");
        for media_type in ["text/html", "text/plain", "application/xhtml+xml"] {
            assert_eq!(read("/sitemap.xml", media_type, &sitemap), (true, 1), "{media_type}");
        }
        let lines = "http://e.org/a\r\nhttp://e.org/b\r\n";
        assert_eq!(read("/Sitemap-1.txt", "text/plain", lines), (true, 2));
        assert_eq!(read("/sitemap.txt", "text/plain", "About us\n"), (false, 0));
        assert_eq!(read("/blocked.txt", "text/plain", lines), (false, 0));
        assert_eq!(read("/sitemap.html", "text/html", "<a href=x>y</a>"), (false, 1));
    }

    #[test]
    fn noindex_of_an_unchanged_page_counts() {
        let directives = Directives { noindex: true, nofollow: false };
        let (outcome, links) = read(Head { directives, ..html(304) }, "");
        assert_eq!(outcome, Outcome::Disallowed { by: DisallowedBy::NoIndex });
        assert!(links.is_empty());
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
